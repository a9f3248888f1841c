/* SPDX-License-Identifier: BSD-2-Clause */
/* coroutine.c - stopping and continuing coroutines, see coroutine.h. */
#include "client/lib/session/coroutine.h"

#include <errno.h>
#include <pthread.h>

#include "client/lib/session/call_context.h"
#include "common/util/quiet_thread.h"

#define ASIDE_STACK (256u << 10)

static _Thread_local struct strand *present;

struct aside {
	struct strand *strand;
	int (*fn)(void *arg);
	void *arg;
	uint64_t began;
	uint32_t asker;
	int rc;
};

/* Not inlined, because the thread may be another one after a stop. */
__attribute__((noinline)) struct strand *strand_self(void)
{
	return present;
}

__attribute__((noinline)) static void set_self(struct strand *s)
{
	present = s;
}

__attribute__((noinline)) int strand_errno(void)
{
	return errno;
}

__attribute__((noinline)) void strand_errno_set(int value)
{
	errno = value;
}

int strand_init(struct strand *s)
{
	*s = (struct strand){ .fiber = fiber_new() };
	return s->fiber ? 0 : -ENOMEM;
}

void strand_fini(struct strand *s)
{
	fiber_free(s->fiber);
}

void strand_begin(struct strand *s, void (*run)(void *arg), void *arg,
		  uint64_t began)
{
	s->began = began;
	s->asker = 0;
	fiber_begin(s->fiber, run, arg);
}

/*
 * ---- the operation is started after the strand has stopped, because it could end
 * earlier ----
 */

static void strand_op_done(struct op *op)
{
	struct strand *s = op->strand;
	struct drive *drive = op->drive;

	if (s->tended)
		atomic_fetch_sub(&drive->tended, 1);
	if (s->answered)
		s->answered(s, drive);
	strand_go(s, drive, NULL);
}

static void *aside_main(void *arg)
{
	struct aside *a = arg;

	deadline_swap(a->began);
	call_user_swap(a->asker);
	a->rc = a->fn(a->arg);
	strand_go(a->strand, NULL, NULL);
	return NULL;
}

static void begin_aside(struct strand *s, struct drive *driven,
			struct drive **batch)
{
	struct aside *a = s->aside;

	s->aside = NULL;
	if (!quiet_thread(ASIDE_STACK, aside_main, a, NULL))
		return;
	a->rc = -EAGAIN;
	strand_go(s, driven, batch);
}

static void strand_submit(struct strand *s, struct drive *driven,
			  struct drive **batch)
{
	struct op *op = s->op;
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
static void strand_pay(struct strand *s, struct drive *driven)
{
	struct drive *to = s->owes;

	s->owes = NULL;
	if (to != driven)
		drive_kick_put(to);
	else if (to)
		drive_put(to);
}

/* True: the strand's function has returned. */
static bool strand_enter(struct strand *s, struct drive *driven)
{
	uint64_t began = deadline_swap(s->began);
	uint32_t who = call_user_swap(s->asker);
	bool over;

	set_self(s);
	over = fiber_enter(s->fiber);
	set_self(NULL);
	s->began = deadline_swap(began);
	s->asker = call_user_swap(who);
	strand_pay(s, driven);
	return over;
}

/* Once a strand has stopped, another thread may continue it at any time. */
void strand_go(struct strand *s, struct drive *driven, struct drive **batch)
{
	while (strand_enter(s, driven)) {
		if (!s->ended(s))
			return;
	}
	if (s->aside)
		begin_aside(s, driven, batch);
	else
		strand_submit(s, driven, batch);
}

/* ---- called from inside a strand ---- */

static int strand_await(struct strand *s, struct drive *drive, struct op *op)
{
	op->drive = drive;
	op->strand = s;
	op->finish = strand_op_done;
	op->err = 0;
	op->waited = false;
	op->done = false;
	s->op = op;
	fiber_leave(s->fiber);
	return op->err;
}

/* Only one is kept; the keeper starts the operation at a second one. */
static void strand_owes(struct strand *s, struct drive *drive)
{
	if (!s->owes)
		s->owes = drive_get(drive);
}

int op_run(struct drive *drive, struct op *op)
{
	struct strand *s = strand_self();

	return s ? strand_await(s, drive, op) : drive_run(drive, op);
}

void op_post(struct drive *drive, struct op *op)
{
	struct strand *s = strand_self();

	drive_submit(drive, op);
	if (s)
		strand_owes(s, drive);
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

int strand_aside(int (*fn)(void *arg), void *arg)
{
	struct strand *s = strand_self();
	struct aside a = {
		.strand = s,
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
