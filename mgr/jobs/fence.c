/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fence.c - fences: an ended session must not write any more.  Every iod must learn
 * this, at once or before it serves again.  The ends are a queue on disk.  Each iod has
 * a recorded position in the queue and takes up to 128 entries in one message.  An
 * entry is deleted when every iod is past it.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "mgr/jobs/jobs_int.h"

#define TIDY_MAX 256 /* entries deleted at a time */
#define SCAN 32 /* entries read together */

static void kick(struct fencer *f);

static void place_key(uint32_t index, char key[24])
{
	snprintf(key, 24, "fenced.%u", index);
}

static uint64_t limit(const struct fencer *f)
{
	return f->iod->mgr->jobs->fence_limit;
}

/* One evicted session marks the whole batch as evicted; this harms no other session. */
static uint32_t flags_of(const struct fencer *f, const struct intent *in)
{
	return in->op == WIRE_EVICT &&
			       rpc_peer_features(f->iod->peer) & WIRE_FT_EVICT
		       ? WIRE_FN_EVICT
		       : 0;
}

/* Collects the next entries; f->sent is the id of the last one. */
static int gather(struct fencer *f, uint64_t session[WIRE_FENCE_MAX],
		  uint32_t *n, uint32_t *flags)
{
	struct store *st = f->iod->mgr->st;
	struct intent in[SCAN];
	int got;

	*n = 0;
	f->sent = f->done;
	do {
		got = intent_read(st, INTENT_FENCE, f->sent, in, SCAN);
		for (int i = 0; i < got && in[i].id <= limit(f); i++) {
			session[(*n)++] = htole64(in[i].session);
			*flags |= flags_of(f, &in[i]);
			f->sent = in[i].id;
		}
	} while (got == SCAN && *n <= WIRE_FENCE_MAX - SCAN &&
		 in[SCAN - 1].id <= limit(f));
	return got < 0 ? got : 0;
}

/* Any error means that the iod has not got the fences: retries. */
static void told(struct iod_call *call)
{
	struct fencer *f = &call->iod->fencer;

	if (call->status) {
		log_warn(call->iod->mgr->log,
			 "%s: fencing sessions: %s; tries again",
			 iod_name(call->iod), strerror(-call->status));
		iod_call_later(call);
		return;
	}
	f->done = f->sent;
	kick(f);
	ends_look(call->iod->mgr);
}

void fence_ask(struct iod *iod, struct iod_call *call,
	       uint64_t msg[FENCE_MSG_LEN / 8], uint32_t flags,
	       const le64 *session, uint32_t n)
{
	struct wire_fence body = { .n = htole32(n), .flags = htole32(flags) };
	struct wire_out out;

	wire_begin(&out, msg, FENCE_MSG_LEN);
	wire_put(&out, &body, sizeof(body));
	wire_put(&out, session, n * sizeof(*session));
	call->msg = msg;
	call->msg_len = (size_t)wire_end(&out, WIRE_FENCE, 0, 0);
	iod_call_start(iod, call);
}

static void kick(struct fencer *f)
{
	uint64_t session[WIRE_FENCE_MAX];
	uint32_t n = 0, flags = 0;

	if (f->call.state != IOD_CALL_IDLE)
		return;
	if (f->done < limit(f) && gather(f, session, &n, &flags))
		return; /* the store failed, and so did the manager */
	if (n) {
		fence_ask(f->iod, &f->call, f->msg, flags, session, n);
		return;
	}
	f->done = limit(f);
	lease_look(f->iod);
}

void fence_claimed(struct iod *iod)
{
	iod_call_cancel(&iod->fencer.call);
	kick(&iod->fencer);
}

void fence_forgotten(struct iod *iod)
{
	iod->fencer.done = 0;
}

bool fence_has_all(const struct iod *iod)
{
	return iod->fencer.done >= limit(&iod->fencer);
}

uint64_t fence_latest(const struct mgr *mgr)
{
	return mgr->jobs->fence_limit;
}

bool fence_owed(const struct mgr *mgr, uint32_t index, uint64_t id)
{
	const struct iod *iod = &mgr->jobs->iod[index];

	return iod->fencer.done < id && iod->lease.until;
}

void fence_up_to(struct mgr *mgr, uint64_t id)
{
	mgr->jobs->fence_limit = id;
	for (uint32_t i = 0; i < mgr->conf.niods; i++)
		kick(&mgr->jobs->iod[i].fencer);
}

int fence_open(struct iod *iod)
{
	struct fencer *f = &iod->fencer;
	char key[24];
	int rc;

	f->iod = iod;
	f->call.done = told;
	place_key(iod->index, key);
	rc = meta_get_u64(iod->mgr->st, key, &f->done);
	f->kept = f->done;
	return rc == -ENOENT ? 0 : rc;
}

int fence_of(const struct mgr *mgr, uint64_t session)
{
	struct intent in = { .id = 0 };
	int rc;

	do
		rc = intent_next(mgr->st, INTENT_FENCE, in.id, &in);
	while (!rc && in.session != session);
	return rc;
}

/* ---- entries that are no longer needed ---- */

static int keep_places(struct mgr *mgr)
{
	char key[24];
	int rc = 0;

	for (uint32_t i = 0; !rc && i < mgr->conf.niods; i++) {
		struct fencer *f = &mgr->jobs->iod[i].fencer;

		if (f->kept == f->done)
			continue;
		place_key(i, key);
		rc = meta_put_u64(mgr->st, key, f->done);
	}
	return rc;
}

static int forget(struct mgr *mgr, uint64_t done)
{
	struct intent in;
	int rc = 0;

	for (int i = 0; !rc && i < TIDY_MAX; i++) {
		rc = intent_next(mgr->st, INTENT_FENCE, 0, &in);
		if (!rc && in.id > done)
			rc = -ENOENT;
		if (!rc)
			rc = intent_del(mgr->st, INTENT_FENCE, in.id);
	}
	return rc == -ENOENT ? 0 : rc;
}

static bool unchanged(struct mgr *mgr, uint64_t *done)
{
	bool same = true;

	*done = UINT64_MAX;
	for (uint32_t i = 0; i < mgr->conf.niods; i++) {
		const struct fencer *f = &mgr->jobs->iod[i].fencer;

		same = same && f->kept == f->done;
		if (f->done < *done)
			*done = f->done;
	}
	return same;
}

void fence_tidy(struct mgr *mgr)
{
	uint64_t done;
	int rc;

	if (unchanged(mgr, &done) || ns_begin(&mgr->ns))
		return;
	rc = keep_places(mgr);
	if (!rc)
		rc = forget(mgr, done);
	if (rc) {
		ns_abort(&mgr->ns);
		return;
	}
	if (mgr_commit(mgr, NULL))
		return;
	for (uint32_t i = 0; i < mgr->conf.niods; i++)
		mgr->jobs->iod[i].fencer.kept = mgr->jobs->iod[i].fencer.done;
}
