/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_drive.c - which thread drives, for how long, and that every operation ends.  The progress
 * context ends the oldest operation in each round.
 */
#include <check.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/util/clock.h"
#include "client/lib/session/drive.h"
#include "tests/run_suite.h"

#define THREADS 8
#define CALLS 1000

static struct drive drive;

/* The context: only the driving thread uses it. */
static struct ops begun;
static atomic_bool driven;
static void (*after_round)(void);

static void begin(struct drive_op *op)
{
	op_get(op);
	TAILQ_INSERT_TAIL(&begun, op, link);
}

int rpc_ctx_progress(struct rpc_ctx *ctx, uint64_t deadline)
{
	struct drive_op *op = TAILQ_FIRST(&begun);

	ck_assert(!atomic_exchange(&driven, true));
	if (op) {
		TAILQ_REMOVE(&begun, op, link);
		op_put(op, 0);
	}
	if (after_round)
		after_round();
	atomic_store(&driven, false);
	return op != NULL;
}

void rpc_ctx_wake(struct rpc_ctx *ctx)
{
}

int rpc_ctx_rest(struct rpc_ctx *ctx, struct pollfd *fd, unsigned int *n,
		 uint64_t *until)
{
	*n = 0;
	*until = CLOCK_NEVER;
	return rpc_ctx_progress(ctx, 0);
}

static void call(void)
{
	struct drive_op op = { .start = begin };

	ck_assert_int_eq(drive_run(&drive, &op), 0);
	ck_assert_uint_eq(op.left, 0);
}

static void setup(void)
{
	drive_init(&drive, NULL, NULL);
	TAILQ_INIT(&begun);
}

static void teardown(void)
{
	ck_assert(!drive.busy);
	ck_assert(TAILQ_EMPTY(&drive.submitted));
	ck_assert(TAILQ_EMPTY(&drive.waiters));
	drive_destroy(&drive);
}

/* ---- returning threads do not keep a thread driving for ever ---- */

static pthread_t first;
static unsigned int rounds; /* rounds of `first` */
static atomic_uint crowd; /* threads that still make calls */
static atomic_bool open_to_all;

static void *one_of_a_crowd(void *arg)
{
	int i;

	while (!atomic_load(&open_to_all))
		sched_yield();
	for (i = 0; i < CALLS; i++)
		call();
	atomic_fetch_sub(&crowd, 1);
	return NULL;
}

/* Whenever `first` looks, another thread wants to drive. */
static void until_wanted(void)
{
	if (!pthread_equal(pthread_self(), first))
		return;
	rounds++;
	atomic_store(&open_to_all, true);
	while (atomic_load(&crowd) && TAILQ_EMPTY(&begun) &&
	       !atomic_load(&drive.nsubmitted))
		sched_yield();
}

START_TEST(nobody_is_kept)
{
	pthread_t t[2];
	int i;

	first = pthread_self();
	after_round = until_wanted;
	atomic_store(&crowd, 2);
	for (i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, one_of_a_crowd, NULL);
	call();
	ck_assert_uint_eq(rounds, 1);
	for (i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
}
END_TEST

/* ---- every operation ends, also without a waiting thread ---- */

static atomic_uint posted;

static void finish(struct drive_op *op)
{
	atomic_fetch_sub(&posted, 1);
	free(op);
}

static void post(void)
{
	struct drive_op *op = calloc(1, sizeof(*op));

	ck_assert_ptr_nonnull(op);
	op->start = begin;
	op->finish = finish;
	atomic_fetch_add(&posted, 1);
	drive_submit(&drive, op);
	drive_kick(&drive);
}

static void *calls_and_posts(void *arg)
{
	int i;

	for (i = 0; i < CALLS; i++) {
		call();
		if (i % 3 == 0)
			post();
	}
	return NULL;
}

START_TEST(all_end)
{
	pthread_t t[THREADS];
	int i;

	after_round = NULL;
	for (i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, calls_and_posts, NULL);
	for (i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	while (rpc_ctx_progress(NULL, 0))
		;
	ck_assert_uint_eq(atomic_load(&posted), 0);
}
END_TEST

/* ---- the watcher ---- */

static unsigned int told(int event)
{
	eventfd_t n = 0;

	return eventfd_read(event, &n) ? 0 : (unsigned int)n;
}

/*
 * drive_leave() succeeds only if no operation arrived, and the eventfd is signalled once when one
 * does.
 */
START_TEST(watcher)
{
	int event = eventfd(0, EFD_NONBLOCK);
	uint64_t turns = 0;

	after_round = NULL;
	call();
	ck_assert(!drive_enter(&drive, &turns));
	ck_assert(drive_enter(&drive, &turns));
	ck_assert(drive_leave(&drive, event));
	ck_assert_uint_eq(told(event), 0);
	/* it woke up by itself, and sleeps again */
	ck_assert(drive_enter(&drive, &turns));
	ck_assert(drive_leave(&drive, event));
	ck_assert_uint_eq(told(event), 0);
	call();
	call();
	ck_assert_uint_eq(told(event), 1);
	ck_assert(!drive_enter(&drive, &turns));
	ck_assert(drive_enter(&drive, &turns));
	ck_assert(drive_leave(&drive, event));
	drive_forget(&drive);
	call();
	ck_assert_uint_eq(told(event), 0);
	close(event);
}
END_TEST

static void *one_call(void *arg)
{
	call();
	return NULL;
}

/* A call that starts while the watcher drives goes next, and the watcher does not sleep. */
START_TEST(watcher_makes_way)
{
	uint64_t turns = 0;
	pthread_t t;

	after_round = NULL;
	ck_assert(drive_enter(&drive, &turns));
	pthread_create(&t, NULL, one_call, NULL);
	while (!atomic_load(&drive.nsubmitted))
		sched_yield();
	ck_assert(!drive_leave(&drive, -1));
	pthread_join(t, NULL);
	ck_assert(!drive_enter(&drive, &turns));
}
END_TEST

static atomic_bool over;

static void *watches(void *arg)
{
	int event = eventfd(0, EFD_NONBLOCK);
	uint64_t turns = 0;

	while (!atomic_load(&over)) {
		told(event);
		if (drive_enter(&drive, &turns))
			drive_leave(&drive, event);
	}
	drive_forget(&drive);
	close(event);
	return NULL;
}

START_TEST(all_end_with_a_watcher)
{
	pthread_t t[THREADS + 1];
	int i;

	after_round = NULL;
	pthread_create(&t[THREADS], NULL, watches, NULL);
	for (i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, calls_and_posts, NULL);
	for (i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	atomic_store(&over, true);
	pthread_join(t[THREADS], NULL);
	while (rpc_ctx_progress(NULL, 0))
		;
	ck_assert_uint_eq(atomic_load(&posted), 0);
}
END_TEST

/* ---- operations that no thread waits for ---- */

static atomic_uint ended;

static void count(struct drive_op *op)
{
	free(op);
	atomic_fetch_add(&ended, 1);
}

static void submit_some(unsigned int n)
{
	while (n--) {
		struct drive_op *op = calloc(1, sizeof(*op));

		op->start = begin;
		op->finish = count;
		drive_submit(&drive, op);
	}
}

static bool all_ended(void *arg)
{
	return atomic_load(&ended) == *(const unsigned int *)arg;
}

START_TEST(attending_drives)
{
	unsigned int n = 50;

	atomic_store(&ended, 0);
	submit_some(n);
	drive_attend(&drive, all_ended, &n, CLOCK_NEVER);
	ck_assert_uint_eq(atomic_load(&ended), n);
	submit_some(1);
	/* it attends no longer than that */
	drive_attend(&drive, all_ended, &n, 0);
	submit_some(1);
	drive_kick(&drive);
	ck_assert_uint_eq(atomic_load(&ended), n + 2);
}
END_TEST

static void *attend(void *arg)
{
	drive_attend(&drive, all_ended, arg, CLOCK_NEVER);
	return NULL;
}

static void *crowd_of_calls(void *arg)
{
	int i;

	for (i = 0; i < CALLS; i++)
		call();
	return arg;
}

/* Several threads wait for the same event, and one drives: the others are signalled. */
START_TEST(others_stand_by)
{
	unsigned int n = 3 * CALLS;
	pthread_t t[THREADS];
	int i;

	atomic_store(&ended, 0);
	for (i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, i % 2 ? attend : crowd_of_calls,
			       &n);
	submit_some(n);
	drive_kick(&drive);
	while (!all_ended(&n))
		sched_yield();
	drive_notice(&drive);
	for (i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
}
END_TEST

START_TEST(who_looks_on_is_told)
{
	struct onlooker o = { .event = eventfd(0, EFD_NONBLOCK) };
	struct pollfd fd[RPC_CTX_FDS];
	uint64_t until;
	unsigned int n;

	ck_assert(drive_rest(&drive, &o, fd, &n, &until));
	ck_assert(!told(o.event)); /* not by itself */
	call();
	ck_assert(told(o.event) && !o.listed);
	call();
	ck_assert(!told(o.event));
	drive_rest(&drive, &o, fd, &n, &until);
	drive_overlook(&drive, &o);
	call();
	ck_assert(!told(o.event) && !o.listed);
	close(o.event);
}
END_TEST

START_TEST(the_tender_is_told_while_there_is_something)
{
	drive.tender = eventfd(0, EFD_NONBLOCK);
	call();
	ck_assert(!told(drive.tender));
	atomic_store(&drive.tended, 1);
	call();
	ck_assert(told(drive.tender));
	close(drive.tender);
}
END_TEST

/* Operations that no thread drives are executed by the next driver, before its own. */
START_TEST(what_was_left_goes_first)
{
	atomic_store(&ended, 0);
	submit_some(3);
	ck_assert_uint_eq(atomic_load(&ended), 0);
	call();
	ck_assert_uint_eq(atomic_load(&ended), 3);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("drive");
	TCase *tc = tcase_create("drive");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, nobody_is_kept);
	tcase_add_test(tc, all_end);
	tcase_add_test(tc, watcher);
	tcase_add_test(tc, watcher_makes_way);
	tcase_add_test(tc, all_end_with_a_watcher);
	tcase_add_test(tc, attending_drives);
	tcase_add_test(tc, others_stand_by);
	tcase_add_test(tc, who_looks_on_is_told);
	tcase_add_test(tc, what_was_left_goes_first);
	tcase_add_test(tc, the_tender_is_told_while_there_is_something);
	tcase_set_timeout(tc, 60);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
