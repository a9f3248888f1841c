/* SPDX-License-Identifier: BSD-2-Clause */
/* test_mgr_park.c - requests that waited run in bounded turns.  Work is counted, never timed. */
#include <string.h>

#include "mgr/request/caller.h"
#include "common/comm/progress/ctx.h"
#include "mgr/jobs/jobs_int.h"
#include "tests/unit/req_rig.h"
#include "tests/unit/store_fixture.h"

#define REQUESTS 10u
#define WORK 40u /* steps of each request */
#define AT_ONCE 4u /* so many requests exceed the budget of a turn */

static struct store_fixture fx;
static struct rpc_ctx ctx;
static struct caller caller;
static struct request req[REQUESTS];
static struct mgr_jobs jobs;
static struct mgr mgr;
static struct park park;
static unsigned int runs, room;

static void run(struct request *r)
{
	ck_assert_ptr_eq(r, &req[runs]);
	mgr.ns.steps += WORK;
	runs++;
}

static uint64_t run_turn(struct run_item *item)
{
	run(container_of(item, struct request, turn));
	return WORK;
}

static void late(struct park *p, struct request *r)
{
	ck_abort();
}

static void setup(void)
{
	store_fx_setup(&fx);
	memset(&ctx, 0, sizeof(ctx));
	TAILQ_INIT(&ctx.dues);
	mgr = (struct mgr){ .ctx = &ctx, .ns.st = fx.st, .jobs = &jobs };
	ck_assert_int_eq(run_queue_open(run_turn, &mgr.queue), 0);
	caller = (struct caller){ .mgr = &mgr, .id = 7 };
	req_rig_open(&caller);
	for (unsigned int i = 0; i < REQUESTS; i++)
		req[i] = (struct request){ .mgr = &mgr,
					   .run = run,
					   .rpc = req_rig_get(i) };
	park_init(&park, RPC_QUEUE, late);
	runs = 0;
	room = REQUESTS;
}

static void teardown(void)
{
	run_queue_close(mgr.queue);
	store_fx_teardown(&fx);
}

static bool is_room(const struct mgr *m)
{
	return runs < room;
}

START_TEST(some_in_a_turn)
{
	for (unsigned int i = 0; i < REQUESTS; i++)
		park_wait(&park, &req[i]);
	ck_assert(park_run(&mgr, &park, is_room));
	ck_assert_uint_eq(runs, AT_ONCE);
	ck_assert(park_run(&mgr, &park, is_room));
	ck_assert_uint_eq(runs, 2 * AT_ONCE);
	ck_assert(!park_run(&mgr, &park, is_room));
	ck_assert_uint_eq(runs, REQUESTS);
	ck_assert(park_empty(&park));
}
END_TEST

START_TEST(as_far_as_there_is_room)
{
	for (unsigned int i = 0; i < REQUESTS; i++)
		park_wait(&park, &req[i]);
	room = 2;
	ck_assert(!park_run(&mgr, &park, is_room));
	ck_assert_uint_eq(runs, 2);
	room = 0;
	ck_assert(!park_run(&mgr, &park, is_room));
	ck_assert_uint_eq(runs, 2);
	while (!park_empty(&park))
		park_take(&park);
}
END_TEST

static const struct job_ops ops = { .name = "question" };

/* Requests that waited for the job of a file get turns as other requests of their users do. */
START_TEST(end_of_a_job)
{
	const struct dist dist = { .pcount = 1 };
	struct file_job *job = job_new(&mgr, 5, &dist, &ops);

	ck_assert_ptr_nonnull(job);
	for (unsigned int i = 0; i < REQUESTS; i++)
		job_wait(job, &req[i]);
	job_finish(job);
	ck_assert_uint_eq(runs, 0);
	run_queue_round(mgr.queue);
	ck_assert_uint_eq(runs, AT_ONCE);
	while (run_queue_waits(mgr.queue))
		run_queue_round(mgr.queue);
	ck_assert_uint_eq(runs, REQUESTS);
	ck_assert_ptr_null(job_lookup(&mgr, 5));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("mgr_park");
	TCase *tc = tcase_create("park");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, some_in_a_turn);
	tcase_add_test(tc, as_far_as_there_is_room);
	tcase_add_test(tc, end_of_a_job);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
