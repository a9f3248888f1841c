/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mgr_locks.c - requests that wait for locks; LOCK_ANY, which waits for several locks and takes
 * one; and a LOCK that takes several turns.
 */
#include <check.h>
#include <errno.h>
#include <unistd.h>

#include "tests/e2e/mgr/mgrrig.h"
#include "tests/run_suite.h"

static struct mgrrig rig;
static struct mgrc holder, c;
static uint64_t handle[3];

static void setup(void)
{
	static const char *const names[3] = { "f", "g", "h" };
	struct wire_attr attr;

	rig_serve(&rig, "slots = 256", &holder);
	mgrc_open(&c, &rig.addr, 0);
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(mgrc_make(&holder, names[i], 0), 0);
		attr = mgrc_stat_ok(&holder, names[i]);
		handle[i] = attr.handle;
	}
}

static void teardown(void)
{
	mgrc_close(&c, true);
	mgrc_close(&holder, true);
	rig_close(&rig);
}

static struct wire_lock lock_of(int file, uint64_t owner, uint32_t type)
{
	return (struct wire_lock){ .handle = handle[file],
				   .owner = htole64(owner),
				   .start = htole64(10),
				   .end = htole64(20),
				   .type = htole32(type) };
}

static int lock(struct mgrc *who, int file, uint64_t owner, uint32_t type,
		uint32_t flags)
{
	struct wire_lock body = lock_of(file, owner, type);

	body.flags = htole32(flags);
	return mgrc_call(who, WIRE_LOCK, &body, sizeof(body), NULL, 0);
}

/* A LOCK_ANY in flight. */
struct any {
	struct rpc_call call;
	uint64_t msg[64];
	int status; /* 1: no reply yet */
	uint32_t which;
};

static void on_done(struct rpc_call *call)
{
	const struct wire_lock_any_rep *rep = call->reply.body;
	struct any *any = call->arg;

	any->status = call->status;
	if (!call->status)
		any->which = le32toh(rep->which);
}

static void post(struct mgrc *who, struct any *any, struct wire_lock *list,
		 uint32_t n, uint32_t wait_ms)
{
	struct wire_lock_any body = { htole32(n), htole32(wait_ms) };
	struct mgrc_item item = { list, n * sizeof(*list) };

	any->status = 1;
	any->call = (struct rpc_call){ .msg = any->msg,
				       .deadline = clock_after_ms(20000),
				       .done = on_done,
				       .arg = any };
	any->call.msg_len = mgrc_build(any->msg, WIRE_LOCK_ANY, &body,
				       sizeof(body), &item, 1);
	rpc_call_start(who->peer, &any->call);
}

/* Checks that the manager has received the request and that it waits. */
static void sure_waits(struct mgrc *who, struct any *any)
{
	ck_assert_int_eq(mgrc_stat(who, "", NULL), 0);
	ck_assert_int_eq(any->status, 1);
}

static void finish(struct mgrc *who, struct any *any)
{
	rig_until((rpc_ctx_progress(who->ctx, clock_after_ms(5)),
		   any->status != 1));
}

static void hold_all(void)
{
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(lock(&holder, i, 1, WIRE_L_EXCLUSIVE, 0), 0);
}

/* LOCK_ANY takes the first free lock, at once or later, and leaves the others. */
START_TEST(test_takes)
{
	struct wire_lock list[3];
	struct any any;

	for (int i = 0; i < 3; i++)
		list[i] = lock_of(i, 7 + i, WIRE_L_EXCLUSIVE);
	hold_all();
	for (int k = 2; k >= 0; k--) {
		post(&c, &any, list, 3, 5000);
		sure_waits(&c, &any);
		ck_assert_int_eq(lock(&holder, k, 1, WIRE_L_UNLOCK, 0), 0);
		finish(&c, &any);
		ck_assert_int_eq(any.status, 0);
		ck_assert_uint_eq(any.which, k);
		ck_assert_int_eq(lock(&holder, k, 1, WIRE_L_EXCLUSIVE, 0),
				 -EAGAIN);
		ck_assert_int_eq(lock(&c, k, 7 + k, WIRE_L_UNLOCK, 0), 0);
		ck_assert_int_eq(lock(&holder, k, 1, WIRE_L_EXCLUSIVE, 0), 0);
	}
	ck_assert_int_eq(lock(&holder, 1, 1, WIRE_L_UNLOCK, 0), 0);
	post(&c, &any, list, 3, 5000);
	finish(&c, &any);
	ck_assert_int_eq(any.status, 0);
	ck_assert_uint_eq(any.which, 1);
}
END_TEST

/* A cancelled request takes no lock, not even later. */
START_TEST(test_cancel)
{
	struct wire_lock list[2] = { lock_of(0, 7, WIRE_L_EXCLUSIVE),
				     lock_of(1, 8, WIRE_L_SHARED) };
	struct any any;

	hold_all();
	post(&c, &any, list, 2, 5000);
	sure_waits(&c, &any);
	/* a cancel of another owner, and one by another session, have no effect */
	ck_assert_int_eq(lock(&c, 1, 9, WIRE_L_UNLOCK, WIRE_L_CANCEL), 0);
	ck_assert_int_eq(lock(&holder, 1, 8, WIRE_L_UNLOCK, WIRE_L_CANCEL), 0);
	sure_waits(&c, &any);
	ck_assert_int_eq(lock(&c, 1, 8, WIRE_L_UNLOCK, WIRE_L_CANCEL), 0);
	finish(&c, &any);
	ck_assert_int_eq(any.status, -EINTR);
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(lock(&holder, i, 1, WIRE_L_UNLOCK, 0), 0);
	ck_assert_int_eq(mgrc_stat(&c, "", NULL), 0);
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(lock(&holder, i, 1, WIRE_L_EXCLUSIVE, 0), 0);
}
END_TEST

START_TEST(test_ends)
{
	struct wire_lock list[2] = { lock_of(0, 7, WIRE_L_EXCLUSIVE),
				     lock_of(1, 8, WIRE_L_SHARED) };
	struct any any;

	hold_all();
	post(&c, &any, list, 2, 0);
	finish(&c, &any);
	ck_assert_int_eq(any.status, -EAGAIN);
	post(&c, &any, list, 2, 300);
	finish(&c, &any);
	ck_assert_int_eq(any.status, -EAGAIN);
	list[1].handle = htole64(4711);
	post(&c, &any, list, 2, 5000);
	finish(&c, &any);
	ck_assert_int_eq(any.status, -ESTALE);
}
END_TEST

/*
 * Two requests that wait for one lock get it one after the other. A request that waits only for
 * this lock gets it, too.
 */
START_TEST(test_turns)
{
	struct wire_lock list[2] = { lock_of(0, 7, WIRE_L_EXCLUSIVE),
				     lock_of(1, 7, WIRE_L_EXCLUSIVE) };
	struct mgrc second = { 0 };
	struct any a, b;

	hold_all();
	mgrc_open(&second, &rig.addr, 0);
	post(&c, &a, list, 2, 5000);
	sure_waits(&c, &a);
	post(&second, &b, list, 2, 5000);
	sure_waits(&second, &b);
	ck_assert_int_eq(lock(&holder, 0, 1, WIRE_L_UNLOCK, 0), 0);
	finish(&c, &a);
	ck_assert_int_eq(a.status, 0);
	sure_waits(&second, &b);
	ck_assert_int_eq(lock(&c, 0, 7, WIRE_L_UNLOCK, 0), 0);
	finish(&second, &b);
	ck_assert_int_eq(b.status, 0);
	/* the end of a session also releases its locks */
	post(&c, &a, list, 1, 5000);
	sure_waits(&c, &a);
	mgrc_close(&second, true);
	finish(&c, &a);
	ck_assert_int_eq(a.status, 0);
}
END_TEST

/* ---- many locks ---- */

#define MANY 24u

/*
 * Returns the number of aborted transactions of the database. There is one whenever a lock was not
 * free.
 */
static uint64_t aborts(void)
{
	const struct wire_metrics body = { .groups = htole32(WIRE_MG_INSIDE) };
	const struct wire_metric *m;
	const char *why;

	ck_assert_int_eq(mgrc_call(&holder, WIRE_METRICS, &body, sizeof(body),
				   NULL, 0),
			 0);
	for (size_t at = 0; at < holder.tail_len;
	     at += wire_metric_len(m, holder.tail_len - at, &why)) {
		m = (const void *)(holder.tail + at);
		if (!strcmp(wire_metric_text(m), "db_aborts"))
			return le64toh(m->n);
	}
	ck_abort_msg("no number of aborts");
}

static struct wire_lock range_of(unsigned int i, uint32_t type, uint32_t flags)
{
	struct wire_lock body = lock_of(0, i + 1, type);

	body.start = htole64(100 * i);
	body.end = htole64(100 * i + 10);
	body.flags = htole32(flags);
	return body;
}

static int lock_range(struct mgrc *who, unsigned int i, uint32_t type)
{
	struct wire_lock body = range_of(i, type, 0);

	return mgrc_call(who, WIRE_LOCK, &body, sizeof(body), NULL, 0);
}

static void post_lock(struct mgrc *who, struct any *any, struct wire_lock *body)
{
	any->status = 1;
	any->call = (struct rpc_call){ .msg = any->msg,
				       .deadline = clock_after_ms(20000),
				       .done = on_done,
				       .arg = any };
	any->call.msg_len = mgrc_build(any->msg, WIRE_LOCK, body, sizeof(*body),
				       NULL, 0);
	rpc_call_start(who->peer, &any->call);
}

/*
 * The release of a lock wakes the requests that wait for it, but no other waiting requests of the
 * file.
 */
START_TEST(test_wakes_few)
{
	static struct any any[MANY];
	struct wire_lock body;
	uint64_t before;

	for (unsigned int i = 0; i < MANY; i++)
		ck_assert_int_eq(lock_range(&holder, i, WIRE_L_EXCLUSIVE), 0);
	for (unsigned int i = 0; i < MANY; i++) {
		body = range_of(i, WIRE_L_EXCLUSIVE, _i ? 0 : WIRE_L_WAIT);
		if (_i)
			post(&c, &any[i], &body, 1, 5000);
		else
			post_lock(&c, &any[i], &body);
	}
	sure_waits(&c, &any[MANY - 1]);
	before = aborts();
	ck_assert_int_eq(lock_range(&holder, 5, WIRE_L_UNLOCK), 0);
	finish(&c, &any[5]);
	ck_assert_int_eq(any[5].status, 0);
	/* the manager itself may cause a few */
	ck_assert_uint_lt(aborts() - before, MANY / 2);
	for (unsigned int i = 0; i < MANY; i++)
		ck_assert_int_eq(any[i].status, i != 5);
	for (unsigned int i = 0; i < MANY; i++)
		if (i != 5)
			ck_assert_int_eq(lock_range(&holder, i, WIRE_L_UNLOCK),
					 0);
	for (unsigned int i = 0; i < MANY; i++) {
		finish(&c, &any[i]);
		ck_assert_int_eq(any[i].status, 0);
	}
}
END_TEST

/* ---- turns ---- */

#define ROWS 128u /* as many rows as two turns change */

static int lock_bytes(uint64_t owner, uint32_t type, uint64_t start,
		      uint64_t end)
{
	struct wire_lock body = lock_of(0, owner, type);

	body.start = htole64(start);
	body.end = htole64(end);
	return mgrc_call(&c, WIRE_LOCK, &body, sizeof(body), NULL, 0);
}

/*
 * The row that begins at the end of the unlocked range needs a third turn, which finds nothing to
 * change. The manager replies only when the changes of the first two turns are flushed.
 */
START_TEST(test_unlock_is_durable)
{
	for (unsigned int i = 0; i <= ROWS; i++)
		ck_assert_int_eq(
			lock_bytes(1, WIRE_L_EXCLUSIVE, 10 * i, 10 * i + 5), 0);
	ck_assert_int_eq(lock_bytes(1, WIRE_L_UNLOCK, 0, 10 * ROWS), 0);
	rig_kill(&rig);
	rig_start(&rig);
	ck_assert_int_eq(lock_bytes(2, WIRE_L_EXCLUSIVE, 0, 10 * ROWS), 0);
	ck_assert_int_eq(lock_bytes(2, WIRE_L_EXCLUSIVE, 0, 10 * ROWS + 1),
			 -EAGAIN);
}
END_TEST

static struct wire_lock bytes_to(uint32_t type, uint64_t end)
{
	struct wire_lock body = lock_of(0, 1, type);

	body.start = htole64(0);
	body.end = htole64(end);
	return body;
}

/* A client may send a LOCK before the reply to the unlock, as after close(). */
START_TEST(test_lock_after_unlock)
{
	struct wire_lock all = bytes_to(WIRE_L_UNLOCK, 10 * ROWS);
	struct wire_lock first = bytes_to(WIRE_L_EXCLUSIVE, 5);
	struct any unlock, again;

	for (unsigned int i = 0; i <= ROWS; i++)
		ck_assert_int_eq(
			lock_bytes(1, WIRE_L_EXCLUSIVE, 10 * i, 10 * i + 5), 0);
	post_lock(&c, &unlock, &all);
	post_lock(&c, &again, &first);
	finish(&c, &unlock);
	finish(&c, &again);
	ck_assert_int_eq(unlock.status, 0);
	ck_assert_int_eq(again.status, 0);
	ck_assert_int_eq(lock_bytes(2, WIRE_L_EXCLUSIVE, 0, 5), -EAGAIN);
	ck_assert_int_eq(lock_bytes(2, WIRE_L_EXCLUSIVE, 5, 10 * ROWS), 0);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("any");
	Suite *s = suite_create("mgr_locks");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, test_takes);
	tcase_add_test(tc, test_cancel);
	tcase_add_test(tc, test_ends);
	tcase_add_test(tc, test_turns);
	tcase_add_loop_test(tc, test_wakes_few, 0, 2);
	tcase_add_test(tc, test_unlock_is_durable);
	tcase_add_test(tc, test_lock_after_unlock);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
