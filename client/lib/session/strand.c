/* SPDX-License-Identifier: BSD-2-Clause */
/* strand.c - stopping and continuing strands, see strand.h. */
#include "client/lib/session/strand.h"

#include <errno.h>
#include <pthread.h>

#include "client/lib/session/asker.h"
#include "common/util/quiet_thread.h"
#include "client/lib/session/session.h"

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
		s->answered(s, session_driven(drive));
	strand_go(s, drive, NULL);
}

static void *aside_main(void *arg)
{
	struct aside *a = arg;

	deadline_swap(a->began);
	asker_swap(a->asker);
	a->rc = a->fn(a->arg);
	strand_go(a->strand, NULL, NULL);
	return NULL;
}

static void begin_aside(struct strand *s, struct drive *driven,
			struct session **batch)
{
	struct aside *a = s->aside;

	s->aside = NULL;
	if (!quiet_thread(ASIDE_STACK, aside_main, a, NULL))
		return;
	a->rc = -EAGAIN;
	strand_go(s, driven, batch);
}

static void strand_submit(struct strand *s, struct drive *driven,
			  struct session **batch)
{
	struct session *to = session_driven(s->op->drive);
	bool mine = &to->drive == driven || (batch && *batch == to);
	struct op *op = s->op;

	s->op = NULL;
	if (!mine)
		session_get(to);
	if (s->posted)
		s->posted(s, to);
	if (s->tended)
		atomic_fetch_add(&to->drive.tended, 1);
	drive_submit(&to->drive, op);
	if (mine)
		return;
	if (batch && !*batch)
		*batch = to;
	else
		strand_kick(to);
}

void strand_kick(struct session *s)
{
	if (!s)
		return;
	drive_kick(&s->drive);
	session_put(s);
}

/* The driving thread starts submitted operations by itself. */
static void strand_pay(struct strand *s, struct drive *driven)
{
	struct session *to = s->owes;

	s->owes = NULL;
	if (to && &to->drive != driven)
		strand_kick(to);
	else if (to)
		session_put(to);
}

/* True: the strand's function has returned. */
static bool strand_enter(struct strand *s, struct drive *driven)
{
	uint64_t began = deadline_swap(s->began);
	uint32_t who = asker_swap(s->asker);
	bool over;

	set_self(s);
	over = fiber_enter(s->fiber);
	set_self(NULL);
	s->began = deadline_swap(began);
	s->asker = asker_swap(who);
	strand_pay(s, driven);
	return over;
}

/* Once a strand has stopped, another thread may continue it at any time. */
void strand_go(struct strand *s, struct drive *driven, struct session **batch)
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

int strand_await(struct strand *s, struct drive *drive, struct op *op)
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

/* Only one session is kept; the keeper starts the operation of a second one. */
void strand_owes(struct strand *s, struct drive *drive)
{
	if (!s->owes)
		s->owes = session_get(session_driven(drive));
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
		.asker = asker(),
	};

	if (!s)
		return run_uncancelled(fn, arg);
	s->aside = &a;
	fiber_leave(s->fiber);
	return a.rc;
}
