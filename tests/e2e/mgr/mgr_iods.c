/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mgr_iods.c - iods that are down, slow or late. Requests that need them wait, and then succeed or
 * fail with ETIMEDOUT. Other requests continue. Work that has begun is completed, also after a
 * crash of the manager.
 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/e2e/mgr/mgrrig.h"
#include "tests/run_suite.h"

static struct mgrrig rig;
static struct mgrc c;

static void setup(void)
{
	rig_serve(&rig, "", &c);
}

static void teardown(void)
{
	mgrc_close(&c, true);
	rig_close(&rig);
}

static uint64_t size_ok(const char *path)
{
	struct wire_attr attr = mgrc_stat_ok(&c, path);

	ck_assert_uint_eq(le32toh(attr.flags) & ~WIRE_A_HOLES, WIRE_A_SIZE);
	return le64toh(attr.size);
}

/* Creates a file with an object on each iod. */
static uint64_t make(const char *path)
{
	uint64_t h;

	ck_assert_int_eq(mgrc_make(&c, path, 1), 0);
	h = le64toh(mgrc_stat_ok(&c, path).handle);
	for (int i = 0; i < RIG_IODS; i++)
		fakeiod_set(&rig.iod[i], h, 1);
	return h;
}

static unsigned int total_objects(void)
{
	unsigned int n = 0;

	for (int i = 0; i < RIG_IODS; i++)
		n += fakeiod_count(&rig.iod[i]);
	return n;
}

START_TEST(test_remove_waits_alone)
{
	char name[16];

	for (int i = 0; i < 500; i++) {
		snprintf(name, sizeof(name), "f%d", i);
		make(name);
	}
	fakeiod_down(&rig.iod[1]);
	for (int i = 0; i < 500; i++) {
		snprintf(name, sizeof(name), "f%d", i);
		ck_assert_int_eq(mgrc_unlink(&c, name), 0);
	}
	/* removals on the other iods do not wait for iod 1 */
	rig_until(fakeiod_count(&rig.iod[0]) == 0);
	rig_until(fakeiod_count(&rig.iod[2]) == 0);
	ck_assert_uint_eq(fakeiod_count(&rig.iod[1]), 500);
	ck_assert_uint_lt(fakeiod_get(&rig.iod[0], &rig.iod[0].remove_calls),
			  250); /* one message has several handles */
	rig_kill(&rig);
	rig_start(&rig);
	fakeiod_up(&rig.iod[1]);
	rig_until(total_objects() == 0);
}
END_TEST

static unsigned int resizes(int i)
{
	return fakeiod_get(&rig.iod[i], &rig.iod[i].resizes);
}

/*
 * A truncation that timed out may be done in part. An iod that did not execute it in time never
 * does.
 */
START_TEST(test_truncate_times_out)
{
	struct mgrc other = { 0 };
	struct mgrc_file f;
	uint64_t h = make("f");

	fakeiod_down(&rig.iod[2]);
	c.timeout_ms = 1000;
	ck_assert_int_eq(mgrc_truncate(&c, "f", 10), -ETIMEDOUT);
	ck_assert(rig_says(&rig, "no answer from iod 2 (tcp://127.0.0.1:"));
	/* other clients do not wait */
	mgrc_open(&other, &rig.addr, 0);
	ck_assert_int_eq(mgrc_make(&other, "g", 0), 0);
	/* the open needs the size, and an iod does not reply */
	ck_assert_int_eq(mgrc_open_file(&c, "f", WIRE_O_WRITE, &f), 0);
	fakeiod_up(&rig.iod[2]);
	c.timeout_ms = 20000;
	ck_assert_int_eq(mgrc_release(&c, &f, 0, 0), 0);
	size_ok("f");
	ck_assert_uint_eq(resizes(2), 0);
	ck_assert_int_eq(fakeiod_size(&rig.iod[2], h), 1);
	mgrc_close(&other, true);
}
END_TEST

START_TEST(test_truncate_over_crash)
{
	uint64_t h = make("f");

	for (int round = 0; round < 2; round++) {
		fakeiod_down(&rig.iod[0]);
		c.timeout_ms = 500;
		ck_assert_int_eq(mgrc_truncate(&c, "f",
					       70000 + (uint64_t)round),
				 -ETIMEDOUT);
		if (round)
			rig_kill(&rig);
		else
			rig_stop(&rig);
		rig_start(&rig);
		fakeiod_up(&rig.iod[0]);
		c.timeout_ms = 20000;
		size_ok("f");
		ck_assert_uint_eq(resizes(0), 0);
		ck_assert_int_eq(fakeiod_size(&rig.iod[0], h), 1);
	}
	ck_assert_int_eq(mgrc_unlink(&c, "f"), 0);
	rig_until(total_objects() == 0);
}
END_TEST

static int result;

static void on_done(struct rpc_call *call)
{
	result = call->status;
}

/* Sends a truncation, or an OPEN that truncates, without waiting. */
static void post(struct rpc_call *call, uint64_t *msg, unsigned int op,
		 const char *path)
{
	struct wire_truncate t = { .size = htole64(5),
				   .path_len = htole32(strlen(path)) };
	struct wire_open o = { .flags = htole32(WIRE_O_WRITE | WIRE_O_TRUNC),
			       .path_len = htole32(strlen(path)) };
	struct mgrc_item item = { path, strlen(path) };

	result = 1;
	*call = (struct rpc_call){ .msg = msg,
				   .deadline = clock_after_ms(20000),
				   .done = on_done };
	call->msg_len = op == WIRE_OPEN
				? mgrc_build(msg, op, &o, sizeof(o), &item, 1)
				: mgrc_build(msg, op, &t, sizeof(t), &item, 1);
	rpc_call_start(c.peer, call);
}

/*
 * The manager dies while a truncation waits for an iod. The client repeats the request, and this
 * continues the same truncation.
 */
START_TEST(test_truncate_replayed)
{
	const unsigned int op = _i ? WIRE_OPEN : WIRE_TRUNCATE;
	struct rpc_call call;
	uint64_t msg[64];
	uint64_t end = clock_after_ms(20000);

	make("f");
	fakeiod_down(&rig.iod[1]);
	post(&call, msg, op, "f");
	rig_until((rpc_ctx_progress(c.ctx, clock_after_ms(5)),
		   resizes(0) == 1 && resizes(2) == 1));
	rig_kill(&rig);
	rig_start(&rig);
	/* continued before the client has reconnected, or after */
	rig_until((rpc_ctx_progress(c.ctx, clock_after_ms(5)),
		   resizes(0) == 2 && resizes(2) == 2));
	ck_assert_int_eq(result, 1);
	fakeiod_up(&rig.iod[1]);
	while (result == 1) {
		rpc_ctx_progress(c.ctx, clock_after_ms(100));
		ck_assert_uint_lt(clock_now(), end);
	}
	ck_assert_int_eq(result, 0);
	ck_assert_uint_eq(resizes(0), 2); /* no third time */
	ck_assert_uint_eq(resizes(1), 1);
	if (op == WIRE_TRUNCATE)
		ck_assert_uint_eq(size_ok("f"), 5);
	else /* the file is open, so the manager does not know the size */
		ck_assert_uint_eq(le32toh(mgrc_stat_ok(&c, "f").flags), 0);
}
END_TEST

START_TEST(test_restart_without_iods)
{
	uint64_t first = fakeiod_term(&rig.iod[0]);
	struct mgrc_file f;

	make("f");
	for (int i = 0; i < RIG_IODS; i++)
		fakeiod_down(&rig.iod[i]);
	rig_kill(&rig);
	rig_start(&rig);
	ck_assert_uint_eq(size_ok("f"), 1);
	ck_assert_int_eq(mgrc_make(&c, "g", 5), 0);
	ck_assert_int_eq(mgrc_open_file(&c, "f", WIRE_O_WRITE, &f), 0);
	ck_assert_int_eq(mgrc_release(&c, &f, 0, 0), 0);
	ck_assert_int_eq(mgrc_unlink(&c, "f"), 0);
	rig_kill(&rig);
	rig_start(&rig);
	for (int i = 0; i < RIG_IODS; i++)
		fakeiod_up(&rig.iod[i]);
	rig_until(total_objects() == 0);
	/* the iods got only the term of the third process */
	for (int i = 0; i < RIG_IODS; i++)
		ck_assert_uint_eq(fakeiod_term(&rig.iod[i]), first + 2);
}
END_TEST

START_TEST(test_new_life_claims_first)
{
	struct rpc_call call;
	uint64_t msg[64];

	make("f");
	for (int i = 0; i < RIG_IODS; i++)
		atomic_store(&rig.iod[i].hold, true);
	post(&call, msg, WIRE_TRUNCATE, "f");
	for (int i = 0; i < RIG_IODS; i++)
		rig_until((rpc_ctx_progress(c.ctx, clock_after_ms(5)),
			   fakeiod_get(&rig.iod[i], &rig.iod[i].nheld) == 1));
	rig_kill(&rig);
	rig_start(&rig);
	for (int i = 0; i < RIG_IODS; i++)
		rig_until(fakeiod_term(&rig.iod[i]) == 2);
	for (int i = 0; i < RIG_IODS; i++)
		fakeiod_release(&rig.iod[i]);
	rig_until((rpc_ctx_progress(c.ctx, clock_after_ms(5)), result != 1));
	ck_assert_int_eq(result, 0);
	ck_assert_uint_eq(size_ok("f"), 5);
}
END_TEST

START_TEST(test_one_job_at_a_time)
{
	struct rpc_call first;
	uint64_t msg[64];

	make("f");
	atomic_store(&rig.iod[0].hold, true);
	post(&first, msg, WIRE_TRUNCATE, "f");
	rpc_ctx_progress(c.ctx, clock_after_ms(100));
	rig_until(fakeiod_get(&rig.iod[0], &rig.iod[0].nheld) == 1);
	fakeiod_release(&rig.iod[0]);
	ck_assert_int_eq(mgrc_truncate(&c, "f", 77), 0);
	ck_assert_int_eq(result, 0);
	ck_assert_uint_eq(size_ok("f"), 77);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("mgr_iods");
	TCase *tc = tcase_create("iods");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, test_remove_waits_alone);
	tcase_add_test(tc, test_truncate_times_out);
	tcase_add_test(tc, test_truncate_over_crash);
	tcase_add_loop_test(tc, test_truncate_replayed, 0, 2);
	tcase_add_test(tc, test_restart_without_iods);
	tcase_add_test(tc, test_new_life_claims_first);
	tcase_add_test(tc, test_one_job_at_a_time);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
