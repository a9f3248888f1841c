/* SPDX-License-Identifier: BSD-2-Clause */
/* mgr_adopt.c - a session adopts the open files and locks of an earlier session. */
#include <check.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "tests/e2e/mgr/mgrrig.h"
#include "tests/run_suite.h"

static struct mgrrig rig;
static struct mgrc before, next, other;
static struct mgrc_file f;

/*
 * The session timeout is longer than the test, so the manager ends no session because it is silent.
 */
static void setup(void)
{
	rig_serve(&rig, "session_timeout = 300\nlease = 3", &other);
	memset(&before, 0, sizeof(before));
	memset(&next, 0, sizeof(next));
	mgrc_open(&before, &rig.addr, 0);
	ck_assert_int_eq(mgrc_open_file(&before, "f",
					WIRE_O_CREAT | WIRE_O_WRITE, &f),
			 0);
	mgrc_open(&next, &rig.addr, 0);
}

static void teardown(void)
{
	mgrc_close(&next, true);
	mgrc_close(&other, true);
	rig_close(&rig);
}

static int lock(struct mgrc *c, uint64_t owner, uint64_t start, uint64_t end)
{
	struct wire_lock body = { .handle = htole64(f.handle),
				  .owner = htole64(owner),
				  .start = htole64(start),
				  .end = htole64(end),
				  .type = htole32(WIRE_L_EXCLUSIVE) };

	return mgrc_call(c, WIRE_LOCK, &body, sizeof(body), NULL, 0);
}

static int adopt(struct mgrc *c, uint64_t open, uint64_t owner, uint32_t flags,
		 uint32_t *done)
{
	struct wire_adopt body = { .session = htole64(before.session),
				   .handle = htole64(f.handle),
				   .open = htole64(open),
				   .owner = htole64(owner),
				   .flags = htole32(flags) };
	struct wire_adopt_rep rep;
	int rc = mgrc_call(c, WIRE_ADOPT, &body, sizeof(body), NULL, 0);

	if (rc)
		return rc;
	memcpy(&rep, c->body, sizeof(rep));
	*done = le32toh(rep.flags);
	return 0;
}

static int adopted(struct mgrc *c)
{
	struct wire_adopted body = { .session = htole64(before.session) };

	return mgrc_call(c, WIRE_ADOPTED, &body, sizeof(body), NULL, 0);
}

static bool size_known(void)
{
	return le32toh(mgrc_stat_ok(&other, "f").flags) & WIRE_A_SIZE;
}

static void open_to_all(const char *name)
{
	struct wire_setattr body = { .valid = htole32(WIRE_S_MODE),
				     .mode = htole32(0666),
				     .path_len = htole32(1) };
	struct mgrc_item item = { name, 1 };

	ck_assert_int_eq(mgrc_call(&other, WIRE_SETATTR, &body, sizeof(body),
				   &item, 1),
			 0);
}

static void adopt_all(void)
{
	uint32_t done;

	ck_assert_int_eq(adopt(&next, f.open, 3, WIRE_AD_PROCESS, &done), 0);
	ck_assert_uint_eq(done, WIRE_AD_OPEN);
}

/*
 * Checks that only the earlier session was fenced. It may be fenced more than once, if the manager
 * was still connecting to the iod.
 */
static void heard_of_before(struct fakeiod *iod)
{
	unsigned int n = fakeiod_get(iod, &iod->fences);

	ck_assert_uint_ge(n, 1);
	for (unsigned int k = 0; k < n && k < 64; k++)
		ck_assert_uint_eq(iod->fenced[k], before.session);
}

/*
 * Until ADOPTED, no other client gets a lock of the earlier session. Then the locks that were not
 * adopted are released. Case 1: the manager crashes meanwhile.
 */
START_TEST(test_adopt)
{
	ck_assert_int_eq(lock(&before, 0, 0, 10), 0);
	ck_assert_int_eq(lock(&before, 3, 10, 20), 0);
	ck_assert_int_eq(lock(&before, 4, 20, 30), 0);
	mgrc_close(&before, false);
	adopt_all();
	if (_i) {
		rig_kill(&rig);
		rig_start(&rig);
	}
	adopt_all(); /* a second adoption is harmless */
	ck_assert_int_eq(lock(&other, 0, 20, 30), -EAGAIN);
	ck_assert_int_eq(adopted(&next), 0);
	for (int i = 0; i < RIG_IODS; i++)
		heard_of_before(&rig.iod[i]);
	rig_until(!lock(&other, 0, 20, 30));
	ck_assert_int_eq(lock(&other, 0, 0, 1), -EAGAIN);
	ck_assert_int_eq(lock(&other, 0, 10, 11), -EAGAIN);
	ck_assert_int_eq(lock(&next, 0, 0, 10), 0);
	ck_assert_int_eq(lock(&next, 3, 10, 20), 0);
	ck_assert(!size_known());
	ck_assert_int_eq(mgrc_release(&next, &f, WIRE_R_WROTE, 10), 0);
	rig_until(size_known());
	ck_assert_int_eq(adopted(&next), 0);
}
END_TEST

/* The earlier session is still connected: the manager has not noticed its end. */
START_TEST(test_adopt_at_once)
{
	adopt_all();
	ck_assert_int_eq(adopted(&next), 0);
	before.timeout_ms = 1000;
	ck_assert_int_ne(mgrc_mkdir(&before, "d"), 0);
	mgrc_close(&before, false);
}
END_TEST

/* An open file without a name can be adopted. */
START_TEST(test_adopt_orphan)
{
	struct wire_attr attr;

	ck_assert_int_eq(mgrc_unlink(&other, "f"), 0);
	mgrc_close(&before, false);
	adopt_all();
	ck_assert_int_eq(adopted(&next), 0);
	ck_assert_int_eq(mgrc_stat_handle(&next, f.handle, &attr), 0);
	ck_assert_int_eq(mgrc_release(&next, &f, WIRE_R_WROTE, 10), 0);
	rig_until(mgrc_stat_handle(&next, f.handle, &attr) == -ESTALE);
}
END_TEST

/* The reply to ADOPTED waits until no iod executes requests of the earlier session. */
START_TEST(test_adopted_waits)
{
	uint32_t done;

	atomic_store(&rig.iod[1].fence_fail, EAGAIN);
	mgrc_close(&before, false);
	adopt_all();
	next.timeout_ms = 1000;
	ck_assert_int_eq(adopted(&next), -ETIMEDOUT);
	ck_assert_int_eq(adopt(&next, f.open, 0, 0, &done), -ESTALE);
	atomic_store(&rig.iod[1].fence_fail, 0);
	next.timeout_ms = 20000;
	ck_assert_int_eq(adopted(&next), 0);
	ck_assert_int_eq(mgrc_release(&next, &f, 0, 0), 0);
}
END_TEST

/*
 * Two sessions of a user: an adopted open does not replace another open with the same number.
 * Otherwise the file would have a writer for ever.
 */
START_TEST(test_adopt_number_taken)
{
	struct mgrc user = { .cred = { .uid = 1000, .gid = 1000 } };
	struct mgrc too = user;
	struct mgrc_file mine, gone;
	uint32_t done;

	ck_assert_int_eq(mgrc_release(&before, &f, WIRE_R_WROTE, 10), 0);
	mgrc_close(&before, true);
	mgrc_open(&user, &rig.addr, 0);
	mgrc_open(&too, &rig.addr, 0);
	before.session = too.session;
	open_to_all("f");
	ck_assert_int_eq(mgrc_make(&other, "g", 10), 0);
	ck_assert_int_eq(mgrc_open_file(&user, "f", WIRE_O_WRITE, &mine), 0);
	ck_assert_int_eq(
		mgrc_open_file(&too, "g", WIRE_O_READ | WIRE_O_HOLD, &gone), 0);
	ck_assert_int_eq(mgrc_unlink(&other, "g"), 0);
	gone.open = mine.open;
	ck_assert_int_eq(mgrc_declare(&too, &gone, 1, true), 0);
	f = gone;
	ck_assert_int_eq(adopt(&user, mine.open, 0, 0, &done), -EEXIST);
	mgrc_close(&user, true);
	mgrc_close(&too, true);
	rig_until(size_known());
}
END_TEST

START_TEST(test_adopt_refused)
{
	struct mgrc user = { .cred = { .uid = 1000, .gid = 1000 } };
	uint32_t done;

	mgrc_open(&user, &rig.addr, 0);
	ck_assert_int_eq(adopt(&user, f.open, 0, 0, &done), -EPERM);
	ck_assert_int_eq(adopted(&user), -EPERM);
	ck_assert_int_eq(adopt(&before, f.open, 0, 0, &done), -EPERM);
	ck_assert_int_eq(adopted(&before), -EPERM);
	mgrc_close(&user, true);
	ck_assert_int_eq(mgrc_release(&before, &f, 0, 0), 0);
	ck_assert_int_eq(adopt(&next, f.open, 0, 0, &done), 0);
	ck_assert_uint_eq(done, 0);
	mgrc_close(&before, true);
	rig_until(adopt(&next, f.open, 0, 0, &done) == -ESTALE);
	ck_assert_int_eq(adopted(&next), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("mgr_adopt");
	TCase *tc = tcase_create("adopt");

	tcase_set_timeout(tc, 120);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, test_adopt, 0, 2);
	tcase_add_test(tc, test_adopt_at_once);
	tcase_add_test(tc, test_adopt_orphan);
	tcase_add_test(tc, test_adopted_waits);
	tcase_add_test(tc, test_adopt_number_taken);
	tcase_add_test(tc, test_adopt_refused);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
