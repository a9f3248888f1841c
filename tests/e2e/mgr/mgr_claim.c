/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mgr_claim.c - the disk of a manager is full when the manager must record the stores of its iods,
 * or the end of a truncation. The manager logs this once, and continues as soon as there is room.
 * The manager runs in this process, and the test interposes its calls to the disk.
 */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "mgr/mgr.h"
#include "tests/e2e/mgr/mgrrig.h"
#include "mgr/ns/ns.h"
#include "tests/run_suite.h"

static struct mgrrig rig;
static struct mgr *mgr;
static atomic_bool full, unmarkable, endless, late, late_next;
static atomic_uint complaints;
static atomic_bool ready;

enum store_space __real_store_check_space(struct store *st);
enum store_space __wrap_store_check_space(struct store *st);
enum store_space __wrap_store_check_space(struct store *st)
{
	return atomic_load(&full) ? STORE_SPACE_NONE
				  : __real_store_check_space(st);
}

/* Interposed: makes requests seem late. */
bool __real_rpc_req_late(const struct rpc_req *req);
bool __wrap_rpc_req_late(const struct rpc_req *req);
bool __wrap_rpc_req_late(const struct rpc_req *req)
{
	bool is_late = atomic_load(&late) || __real_rpc_req_late(req);

	if (atomic_load(&late_next))
		atomic_store(&late, true);
	return is_late;
}

int __real_ns_set_bound(struct ns *ns);
int __wrap_ns_set_bound(struct ns *ns);
int __wrap_ns_set_bound(struct ns *ns)
{
	return atomic_load(&unmarkable) ? -ENOSPC : __real_ns_set_bound(ns);
}

int __real_ns_end_truncate(struct ns_op *op, const struct intent *in,
			   int status);
int __wrap_ns_end_truncate(struct ns_op *op, const struct intent *in,
			   int status);
int __wrap_ns_end_truncate(struct ns_op *op, const struct intent *in,
			   int status)
{
	return atomic_load(&endless) ? -ENOSPC
				     : __real_ns_end_truncate(op, in, status);
}

static void sink(void *arg, enum log_level level, const char *msg)
{
	if (strstr(msg, "cannot record its store") ||
	    strstr(msg, "its end cannot be recorded"))
		atomic_fetch_add(&complaints, 1);
	if (!strncmp(msg, "ready:", 6))
		atomic_store(&ready, true);
}

static unsigned int claims(int i)
{
	return fakeiod_get(&rig.iod[i], &rig.iod[i].claims);
}

/* Waits until the manager has tried at least twice more, without success. */
static void tries_again(int i)
{
	unsigned int before = claims(i);

	rig_until(claims(i) >= before + 2);
	ck_assert(!atomic_load(&ready));
}

static void start(void)
{
	static const struct log log = { LOG_LV_INFO, sink, NULL };
	struct mgr_conf conf;
	char err[256];

	atomic_store(&complaints, 0);
	atomic_store(&ready, false);
	rig_open(&rig);
	ck_assert_int_eq(mgr_conf_load(rig.conf, MGR_INDEX_NONE, &conf, err,
				       sizeof(err)),
			 0);
	ck_assert_int_eq(mgr_start(&conf, &log, NULL, &mgr), 0);
	mgr_conf_free(&conf);
}

static void stop(void)
{
	mgr_stop(mgr);
	rig_close(&rig);
}

START_TEST(test_stores)
{
	atomic_store(&full, true);
	start();
	for (int i = 0; i < RIG_IODS; i++)
		tries_again(i);
	ck_assert_uint_eq(atomic_load(&complaints), RIG_IODS);
	atomic_store(&full, false);
	rig_until(atomic_load(&ready));
	stop();
}
END_TEST

/* The manager can record each store, but not that it has seen all of them. */
START_TEST(test_all_seen)
{
	atomic_store(&unmarkable, true);
	start();
	rig_until(atomic_load(&complaints) == 1);
	atomic_store(&unmarkable, false);
	rig_until(atomic_load(&ready));
	stop();
}
END_TEST

static void *cut(void *arg)
{
	struct mgrc c = { 0 };
	int *rc = arg;

	mgrc_open(&c, &rig.addr, 0);
	must(!mgrc_make(&c, "f", 100));
	atomic_store(&endless, true);
	*rc = mgrc_truncate(&c, "f", 10);
	mgrc_close(&c, true);
	return NULL;
}

/* All iods have truncated the file, but the manager cannot record that, so the file stays busy. */
START_TEST(test_truncation)
{
	pthread_t thread;
	int rc = 1;

	start();
	rig_until(atomic_load(&ready));
	ck_assert(!pthread_create(&thread, NULL, cut, &rc));
	rig_until(atomic_load(&complaints) == 1);
	ck_assert_int_eq(rc, 1);
	atomic_store(&endless, false);
	pthread_join(thread, NULL);
	ck_assert_int_eq(rc, 0);
	ck_assert_uint_eq(atomic_load(&complaints), 1);
	stop();
}
END_TEST

static bool is_there(struct mgrc *c, uint64_t handle)
{
	struct wire_attr attr;
	int rc = mgrc_stat_handle(c, handle, &attr);

	ck_assert(!rc || rc == -ESTALE);
	return !rc;
}

/* A rejected declaration does not hold a file, neither after the end of the session nor before. */
START_TEST(test_declared_in_vain)
{
	struct mgrc c = { 0 };
	struct mgrc user = { .cred = { .uid = 1000, .gid = 1000 } };
	struct mgrc_file f = { .open = UINT64_C(1) << 63 };
	atomic_bool *why = _i & 2 ? &late : &full;

	start();
	rig_until(atomic_load(&ready));
	mgrc_open(&c, &rig.addr, 0);
	must(!mgrc_make(&c, "f", 100));
	mgrc_open(&user, &rig.addr, 0);
	f.handle = le64toh(mgrc_stat_ok(&user, "f").handle);
	atomic_store(why, true);
	ck_assert_int_lt(mgrc_declare(&user, &f, 1, true), 0);
	atomic_store(why, false);
	if (_i & 1)
		mgrc_close(&user, true);
	ck_assert_int_eq(mgrc_unlink(&c, "f"), 0);
	if (!(_i & 1))
		mgrc_close(&user, true);
	rig_until(!is_there(&c, f.handle));
	mgrc_close(&c, true);
	stop();
}
END_TEST

#define LOCKS 200u

static int lock(struct mgrc *c, struct wire_lock l, struct wire_lock_rep *rep)
{
	int rc = mgrc_call(c, WIRE_LOCK, &l, sizeof(l), NULL, 0);

	if (rep && !rc)
		memcpy(rep, c->body, sizeof(*rep));
	return rc;
}

/*
 * A lock that takes several turns is set as a whole, even if its deadline passes after the first
 * turn.
 */
START_TEST(test_lock_in_turns)
{
	const uint64_t end = 3 * LOCKS;
	struct wire_lock l = { .owner = htole64(5) };
	struct mgrc c = { 0 }, other = { 0 };
	struct wire_lock_rep rep = { 0 };

	start();
	rig_until(atomic_load(&ready));
	mgrc_open(&c, &rig.addr, 0);
	must(!mgrc_make(&c, "f", 100));
	l.handle = mgrc_stat_ok(&c, "f").handle;
	for (uint32_t i = 0; i < LOCKS; i++) {
		l.start = htole64(3 * i + 1);
		l.end = htole64(3 * i + 3);
		l.type = htole32(1 + i % 2);
		ck_assert_int_eq(lock(&c, l, NULL), 0);
	}
	l.start = 0;
	l.end = htole64(end);
	l.type = htole32(WIRE_L_EXCLUSIVE);
	atomic_store(&late_next, true);
	ck_assert_int_eq(lock(&c, l, NULL), 0);
	atomic_store(&late_next, false);
	atomic_store(&late, false);
	mgrc_open(&other, &rig.addr, 0);
	l.flags = htole32(WIRE_L_TEST);
	l.start = htole64(end - 1);
	ck_assert_int_eq(lock(&other, l, &rep), 0);
	ck_assert_uint_eq(le32toh(rep.type), WIRE_L_EXCLUSIVE);
	ck_assert_uint_eq(le64toh(rep.start), 0);
	ck_assert_uint_eq(le64toh(rep.end), end);
	mgrc_close(&other, true);
	mgrc_close(&c, true);
	stop();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("mgr_claim");
	TCase *tc = tcase_create("full disk");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, test_stores);
	tcase_add_test(tc, test_all_seen);
	tcase_add_test(tc, test_truncation);
	tcase_add_loop_test(tc, test_declared_in_vain, 0, 4);
	tcase_add_test(tc, test_lock_in_turns);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
