/* SPDX-License-Identifier: BSD-2-Clause */
/* coroutine.c - stopping and continuing coroutines, see coroutine.h. */
#include "client/lib/session/coroutine.h"

#include <errno.h>
#include <pthread.h>

#include "client/lib/session/call_context.h"
#include "common/util/quiet_thread.h"

#define ASIDE_STACK (256u << 10)

static _Thread_local struct coroutine *present;

struct blocking_call {
	struct coroutine *coroutine;
	int (*fn)(void *arg);
	void *arg;
	uint64_t began;
	uint32_t asker;
	int rc;
};

/* Not inlined, because the thread may be another one after a stop. */
__attribute__((noinline)) struct coroutine *coroutine_self(void)
{
	return present;
}

__attribute__((noinline)) static void set_self(struct coroutine *s)
{
	present = s;
}

__attribute__((noinline)) int coroutine_errno(void)
{
	return errno;
}

__attribute__((noinline)) void coroutine_errno_set(int value)
{
	errno = value;
}

int coroutine_init(struct coroutine *s)
{
	*s = (struct coroutine){ .fiber = fiber_new() };
	return s->fiber ? 0 : -ENOMEM;
}

void coroutine_fini(struct coroutine *s)
{
	fiber_free(s->fiber);
}

void coroutine_begin(struct coroutine *s, void (*run)(void *arg), void *arg,
		     uint64_t began)
{
	s->began = began;
	s->asker = 0;
	fiber_begin(s->fiber, run, arg);
}

/*
 * ---- the operation is started after the coroutine has stopped, because it could end
 * earlier ----
 */

static void coroutine_op_done(struct drive_op *op)
{
	struct coroutine *s = op->coroutine;
	struct drive *drive = op->drive;

	if (s->tended)
		atomic_fetch_sub(&drive->tended, 1);
	if (s->answered)
		s->answered(s, drive);
	coroutine_resume(s, drive, NULL);
}

static void *aside_main(void *arg)
{
	struct blocking_call *a = arg;

	deadline_swap(a->began);
	call_user_swap(a->asker);
	a->rc = a->fn(a->arg);
	coroutine_resume(a->coroutine, NULL, NULL);
	return NULL;
}

static void begin_aside(struct coroutine *s, struct drive *driven,
			struct drive **batch)
{
	struct blocking_call *a = s->aside;

	s->aside = NULL;
	if (!quiet_thread(ASIDE_STACK, aside_main, a, NULL))
		return;
	a->rc = -EAGAIN;
	coroutine_resume(s, driven, batch);
}

static void coroutine_submit(struct coroutine *s, struct drive *driven,
			     struct drive **batch)
{
	struct drive_op *op = s->op;
	struct drive *to = op->drive;
	bool mine = to == driven || (batch && *batch == to);

	s->op = NULL;
	if (!mine)
		drive_get(to);
	if (s->posted)
		s->posted(s, to);
	if (s->tended)
		atomic_fetch_add(&to->tended, 1);
	drive_submit(to, op);
	if (mine)
		return;
	if (batch && !*batch)
		*batch = to;
	else
		drive_kick_put(to);
}

/* The driving thread starts submitted operations by itself. */
static void coroutine_kick_owed(struct coroutine *s, struct drive *driven)
{
	struct drive *to = s->owes;

	s->owes = NULL;
	if (to != driven)
		drive_kick_put(to);
	else if (to)
		drive_put(to);
}

/* Runs the coroutine until it waits or ends.  Returns true if its function has returned. */
static bool coroutine_enter(struct coroutine *s, struct drive *driven)
{
	uint64_t began = deadline_swap(s->began);
	uint32_t who = call_user_swap(s->asker);
	bool over;

	set_self(s);
	over = fiber_enter(s->fiber);
	set_self(NULL);
	s->began = deadline_swap(began);
	s->asker = call_user_swap(who);
	coroutine_kick_owed(s, driven);
	return over;
}

/* Once a coroutine has stopped, another thread may continue it at any time. */
void coroutine_resume(struct coroutine *s, struct drive *driven,
		      struct drive **batch)
{
	while (coroutine_enter(s, driven)) {
		if (!s->ended(s))
			return;
	}
	if (s->aside)
		begin_aside(s, driven, batch);
	else
		coroutine_submit(s, driven, batch);
}

/* ---- called from inside a coroutine ---- */

static int coroutine_await(struct coroutine *s, struct drive *drive,
			   struct drive_op *op)
{
	op->drive = drive;
	op->coroutine = s;
	op->finish = coroutine_op_done;
	op->err = 0;
	op->waited = false;
	op->done = false;
	s->op = op;
	fiber_leave(s->fiber);
	return op->err;
}

/*
 * Records that this coroutine must kick drive when it leaves.  It can record only one drive; the
 * keeper of any other drive starts the operation.
 */
static void coroutine_owes(struct coroutine *s, struct drive *drive)
{
	if (!s->owes)
		s->owes = drive_get(drive);
}

int op_run(struct drive *drive, struct drive_op *op)
{
	struct coroutine *s = coroutine_self();

	return s ? coroutine_await(s, drive, op) : drive_run(drive, op);
}

void op_post(struct drive *drive, struct drive_op *op)
{
	struct coroutine *s = coroutine_self();

	drive_submit(drive, op);
	if (s)
		coroutine_owes(s, drive);
	else
		drive_kick(drive);
}

/* A thread cancelled inside would leave locks held, and others waiting. */
static int run_uncancelled(int (*fn)(void *arg), void *arg)
{
	int cancel, rc;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	rc = fn(arg);
	pthread_setcancelstate(cancel, NULL);
	return rc;
}

int coroutine_aside(int (*fn)(void *arg), void *arg)
{
	struct coroutine *s = coroutine_self();
	struct blocking_call a = {
		.coroutine = s,
		.fn = fn,
		.arg = arg,
		.began = deadline_began(),
		.asker = call_user(),
	};

	if (!s)
		return run_uncancelled(fn, arg);
	s->aside = &a;
	fiber_leave(s->fiber);
	return a.rc;
}
