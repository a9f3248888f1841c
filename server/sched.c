/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sched.c - who gets the next transfer unit.
 *
 * Sessions that want one stand in a ring and get one each in turn; within a
 * session its transfers do.  A session may hold as many as are still free,
 * but always two (dynamic threshold, Choudhury and Hahne 1998): however busy
 * or stuck it is, something is left for the next.
 */
#include "xfer.h"

#define SHARE_MIN 2u

void sched_want(struct xfer *x)
{
	struct iod_session *ses = x->ses;

	if (x->wants)
		return;
	x->wants = true;
	TAILQ_INSERT_TAIL(&ses->waiting, x, wait);
	if (!ses->waits) {
		ses->waits = true;
		TAILQ_INSERT_TAIL(&x->worker->ring, ses, ring);
	}
}

void sched_unwant(struct xfer *x)
{
	struct iod_session *ses = x->ses;

	if (!x->wants)
		return;
	x->wants = false;
	TAILQ_REMOVE(&ses->waiting, x, wait);
	if (TAILQ_EMPTY(&ses->waiting)) {
		ses->waits = false;
		TAILQ_REMOVE(&x->worker->ring, ses, ring);
	}
}

/* The next session in turn that may have a unit now. */
static struct iod_session *next_session(struct worker *w)
{
	unsigned int left = unit_left(w->units);
	struct iod_session *ses;

	if (!left)
		return NULL;
	TAILQ_FOREACH(ses, &w->ring, ring)
		if (ses->units < SHARE_MIN || ses->units <= left)
			return ses;
	return NULL;
}

static void grant(struct worker *w, struct iod_session *ses)
{
	struct xfer *x = TAILQ_FIRST(&ses->waiting);
	struct unit *unit = unit_get(w->units);

	sched_unwant(x);
	ses->units++;
	if (ses->waits) {
		TAILQ_REMOVE(&w->ring, ses, ring);
		TAILQ_INSERT_TAIL(&w->ring, ses, ring);
	}
	xfer_begin_chunk(x, unit);
}

void sched_run(struct worker *w)
{
	struct iod_session *ses;

	if (w->serving)
		return;
	w->serving = true;
	while ((ses = next_session(w)))
		grant(w, ses);
	w->serving = false;
}
