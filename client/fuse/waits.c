/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * waits.c - see waits.h.
 *
 *	kernel     SETLKW .......... INTERRUPT: LOCK with WIRE_L_CANCEL
 *	waiter     LOCK with WIRE_L_WAIT, again and again ...... answered
 *
 * libfuse calls interrupted() also if the interrupt was there before the wait.
 */
#include "waits.h"

#include <errno.h>
#include <stdlib.h>

#include "owners.h"
#include "quiet_thread.h"

#define STACK_SIZE (256u * 1024)

struct wait {
	struct call c;
	struct file *f;
	struct mgr_lock lock;
	atomic_bool interrupted;
};

static void cancel(struct wait *w)
{
	struct mgr_lock lock = w->lock;
	struct session *s;

	lock.type = WIRE_L_UNLOCK;
	lock.flags = WIRE_L_CANCEL | (w->lock.flags & WIRE_L_WHOLE);
	if (fs_session(w->f->fs, &s))
		return;
	mgr_unlock(s, w->f->handle, &lock);
	session_put(s);
}

static void interrupted(fuse_req_t req, void *arg)
{
	struct wait *w = arg;

	atomic_store(&w->interrupted, true);
	deadline_begin();
	cancel(w);
}

/* The mgr lets nobody wait for long; who waits asks again. */
static int ask_again(struct wait *w)
{
	struct mgr_lock lock;
	int rc;

	while (!atomic_load(&w->interrupted)) {
		deadline_begin();
		lock = w->lock;
		lock.flags |= WIRE_L_WAIT;
		rc = owners_lock(w->f, &lock);
		if (rc != -EAGAIN)
			return rc;
	}
	return -EINTR;
}

static void *waiter_main(void *arg)
{
	struct wait *w = arg;
	int rc = ask_again(w);

	fuse_req_interrupt_func(w->c.req, NULL, NULL);
	atomic_fetch_sub(&w->c.d->waits, 1);
	call_end(&w->c, rc);
	file_put(w->f);
	free(w);
	return NULL;
}

static struct wait *make(const struct call *c, struct file *f,
			 const struct mgr_lock *want)
{
	struct wait *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->c = *c;
	w->f = file_get(f);
	w->lock = *want;
	return w;
}

static int start(struct wait *w)
{
	fuse_req_interrupt_func(w->c.req, interrupted, w);
	if (!quiet_thread(STACK_SIZE, waiter_main, w, NULL))
		return 0;
	fuse_req_interrupt_func(w->c.req, NULL, NULL);
	file_put(w->f);
	free(w);
	return -ENOLCK;
}

int waits_begin(const struct call *c, struct file *f,
		const struct mgr_lock *want)
{
	struct wait *w;
	int rc = -ENOLCK;

	if (atomic_fetch_add(&c->d->waits, 1) < WAITS_MAX) {
		w = make(c, f, want);
		rc = w ? start(w) : -ENOLCK;
	}
	if (rc)
		atomic_fetch_sub(&c->d->waits, 1);
	return rc;
}
