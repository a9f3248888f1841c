/* SPDX-License-Identifier: BSD-2-Clause */
/* mgr_holds.c - opens that the manager holds only in memory, over its crashes. */
#include <check.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "tests/e2e/mgr/mgrrig.h"
#include "tests/run_suite.h"

#define HOLD (WIRE_O_READ | WIRE_O_HOLD)
#define AHEAD 20
#define MANY (WIRE_HOLD_MAX + 10)
/* maximum in memory of one session; four sessions fill the memory */
#define SHARE (1u << 18)

static struct mgrrig rig;
static struct mgrc c, r; /* c removes the file that r reads */
static struct mgrc_file f;

static void serve(const char *conf)
{
	rig_serve(&rig, conf, &c);
	memset(&r, 0, sizeof(r));
	mgrc_open(&r, &rig.addr, 0);
	ck_assert_int_eq(mgrc_make(&c, "f", 10), 0);
	mgrc_stat_ok(&r, "f");
	ck_assert_int_eq(mgrc_declare(&r, NULL, 0, true), 0);
	ck_assert_int_eq(mgrc_open_file(&r, "f", HOLD, &f), 0);
	ck_assert(f.open >> 63); /* held in memory */
}

static void setup(void)
{
	serve("session_timeout = 4\nlease = 3");
}

/* With a longer session timeout. */
static void setup_patient(void)
{
	serve("session_timeout = 60\nlease = 3");
}

static void teardown(void)
{
	mgrc_close(&c, true);
	rig_close(&rig);
}

static void crash(void)
{
	rig_kill(&rig);
	rig_start(&rig);
}

static bool is_there(void)
{
	struct wire_attr attr;
	int rc = mgrc_stat_handle(&c, f.handle, &attr);

	ck_assert(!rc || rc == -ESTALE);
	return !rc;
}

/* The reader reconnects to the next process of the manager. */
static void come_back(void)
{
	uint64_t before = r.boot;
	struct wire_attr attr;

	ck_assert_int_eq(mgrc_stat(&r, "", &attr), 0);
	ck_assert_uint_ne(r.boot, before);
	ck_assert_uint_eq(r.fresh, 1); /* the session is the same */
}

static void stays_until_released(void)
{
	ck_assert_int_eq(mgrc_stat(&c, "f", &f.attr), -ENOENT);
	usleep(200000);
	ck_assert(is_there());
	ck_assert_int_eq(mgrc_release(&r, &f, 0, 0), 0);
	rig_until(!is_there());
}

/* The last name of the file is removed after the crash, before the reader reconnects. */
START_TEST(removed_meanwhile)
{
	crash();
	ck_assert_int_eq(mgrc_unlink(&c, "f"), 0);
	ck_assert(is_there());
	if (_i)
		/* the manager still knows that a client may hold the file */
		crash();
	ck_assert(is_there());
	come_back();
	ck_assert(is_there());
	ck_assert_int_eq(mgrc_declare(&r, &f, 1, true), 0);
	stays_until_released();
	mgrc_close(&r, true);
}
END_TEST

START_TEST(replaced_meanwhile)
{
	ck_assert_int_eq(mgrc_make(&c, "g", 10), 0);
	crash();
	ck_assert_int_eq(mgrc_rename(&c, "g", "f"), 0);
	come_back();
	ck_assert_int_eq(mgrc_declare(&r, &f, 1, true), 0);
	usleep(200000);
	ck_assert(is_there());
	ck_assert_int_eq(mgrc_release(&r, &f, 0, 0), 0);
	rig_until(!is_there());
	mgrc_close(&r, true);
}
END_TEST

/*
 * Case 0: the reader does not reconnect. Case 1: it reconnects and declares that it holds nothing.
 * Case 2: it reconnects and disconnects.
 */
START_TEST(nobody_holds_it)
{
	crash();
	ck_assert_int_eq(mgrc_unlink(&c, "f"), 0);
	ck_assert(is_there());
	if (_i) {
		come_back();
		ck_assert(is_there());
	}
	if (_i == 1)
		ck_assert_int_eq(mgrc_declare(&r, NULL, 0, true), 0);
	if (_i != 1)
		mgrc_close(&r, _i == 2);
	rig_until(!is_there());
	if (_i == 1)
		mgrc_close(&r, true);
}
END_TEST

/* The file is removed before the crash (case 0), or after the reader has reconnected. */
START_TEST(removed_at_other_times)
{
	if (!_i)
		ck_assert_int_eq(mgrc_unlink(&c, "f"), 0);
	crash();
	come_back();
	ck_assert_int_eq(mgrc_declare(&r, &f, 1, true), 0);
	if (_i)
		ck_assert_int_eq(mgrc_unlink(&c, "f"), 0);
	stays_until_released();
	mgrc_close(&r, true);
}
END_TEST

/* A declaration to an earlier process of the manager does not count for later changes. */
START_TEST(too_late)
{
	uint64_t before = r.boot;

	crash();
	come_back();
	ck_assert_int_eq(mgrc_unlink(&c, "f"), 0);
	r.boot = before;
	ck_assert_int_eq(mgrc_declare(&r, NULL, 0, true), 0);
	usleep(200000);
	ck_assert(is_there());
	mgrc_close(&r, true);
	rig_until(!is_there());
}
END_TEST

/*
 * A client knows the number of another client's open, and declares it as its own or closes it. The
 * hold of the other client remains.
 */
START_TEST(told_by_another)
{
	struct mgrc user = { .cred = { .uid = 1000, .gid = 1000 } };
	struct mgrc_file g;
	struct wire_attr attr;

	mgrc_open(&user, &rig.addr, 0);
	mgrc_stat_ok(&user, "f");
	ck_assert_int_eq(mgrc_declare(&user, NULL, 0, true), 0);
	ck_assert_int_eq(mgrc_make(&c, "g", 10), 0);
	g = f;
	g.handle = le64toh(mgrc_stat_ok(&c, "g").handle);
	crash();
	ck_assert_int_eq(mgrc_stat(&user, "", &attr), 0);
	if (_i)
		ck_assert_int_eq(mgrc_release(&user, &f, 0, 0), 0);
	else
		ck_assert_int_eq(mgrc_declare(&user, &g, 1, true), 0);
	come_back();
	ck_assert_int_eq(mgrc_declare(&r, &f, 1, true), 0);
	ck_assert_int_eq(mgrc_declare(&user, NULL, 0, true), 0);
	ck_assert_int_eq(mgrc_unlink(&c, "f"), 0);
	stays_until_released();
	mgrc_close(&user, true);
	mgrc_close(&r, true);
}
END_TEST

/* The declaration has several messages, and the last one completes it. */
START_TEST(many)
{
	static struct mgrc_file more[MANY];

	for (unsigned int i = 0; i < MANY; i++)
		ck_assert_int_eq(mgrc_open_file(&r, "f", HOLD, &more[i]), 0);
	crash();
	ck_assert_int_eq(mgrc_unlink(&c, "f"), 0);
	come_back();
	ck_assert_int_eq(mgrc_declare(&r, more, WIRE_HOLD_MAX, false), 0);
	ck_assert_int_eq(mgrc_declare(&r, more + WIRE_HOLD_MAX,
				      MANY - WIRE_HOLD_MAX, true),
			 0);
	for (unsigned int i = 0; i < MANY; i++) {
		ck_assert(is_there());
		ck_assert_int_eq(mgrc_release(&r, &more[i], 0, 0), 0);
	}
	rig_until(!is_there());
	mgrc_close(&r, true);
}
END_TEST

/* Fills the memory for holds with sessions that declare invented opens. */
static void fill(struct mgrc *by)
{
	static struct mgrc_file told[WIRE_HOLD_MAX];
	uint64_t open = UINT64_C(1) << 63;

	mgrc_open(by, &rig.addr, 0);
	mgrc_stat_ok(by, "f");
	for (unsigned int n = 0; n < SHARE; n += WIRE_HOLD_MAX) {
		for (unsigned int i = 0; i < WIRE_HOLD_MAX; i++) {
			told[i].handle = f.handle;
			told[i].open = ++open;
		}
		ck_assert_int_eq(mgrc_declare(by, told, WIRE_HOLD_MAX, false),
				 0);
	}
}

/* Another user's declarations do not prevent a client from declaring its own opens. */
START_TEST(no_room_in_memory)
{
	struct mgrc by[4] = { 0 };

	crash();
	for (unsigned int i = 0; i < 4; i++) {
		by[i].cred = (struct rpc_cred){ .uid = 1000, .gid = 1000 };
		fill(&by[i]);
	}
	come_back();
	ck_assert_int_eq(mgrc_declare(&r, &f, 1, true), 0);
	for (unsigned int i = 0; i < 4; i++)
		mgrc_close(&by[i], true);
	ck_assert_int_eq(mgrc_unlink(&c, "f"), 0);
	stays_until_released();
	mgrc_close(&r, true);
}
END_TEST

/* An open of a client that does not support declarations gets a row immediately. */
START_TEST(silent)
{
	struct mgrc_file g;
	struct mgrc s = { 0 };

	mgrc_open(&s, &rig.addr, 0);
	ck_assert_int_eq(mgrc_open_file(&s, "f", HOLD, &g), 0);
	ck_assert(!(g.open >> 63));
	mgrc_close(&s, true);
	mgrc_close(&r, true);
}
END_TEST

/*
 * Case 0: the session reconnects and declares nothing. Case 1: it declares an open, but not that
 * this is all.
 */
START_TEST(never_says_all)
{
	crash();
	come_back();
	if (_i)
		ck_assert_int_eq(mgrc_declare(&r, &f, 1, false), 0);
	ck_assert_int_eq(mgrc_make(&c, "g", 10), 0);
	f.handle = le64toh(mgrc_stat_ok(&c, "g").handle);
	ck_assert_int_eq(mgrc_unlink(&c, "g"), 0);
	ck_assert(is_there());
	for (int i = 0; is_there() && i < 150; i++) {
		mgrc_stat_ok(&r, "f");
		usleep(100000);
	}
	ck_assert(!is_there());
	mgrc_close(&r, true);
}
END_TEST

static int grant(struct mgrc *by, const struct mgrc_file *what)
{
	struct wire_grant body = { .handle = htole64(what->handle),
				   .open = htole64(what->open),
				   .flags = htole32(WIRE_O_READ) };

	return mgrc_call(by, WIRE_GRANT, &body, sizeof(body), NULL, 0);
}

static void set_mode(uint32_t mode)
{
	struct wire_setattr body = { .valid = htole32(WIRE_S_MODE),
				     .mode = htole32(mode),
				     .path_len = htole32(1) };
	struct mgrc_item item = { "f", 1 };

	ck_assert_int_eq(
		mgrc_call(&c, WIRE_SETATTR, &body, sizeof(body), &item, 1), 0);
}

/*
 * A client passes on files that it has opened. It can pass on a declared open only if the mode of
 * the file permits that: at once, with a row, and when only the row is left.
 */
START_TEST(passed_on)
{
	struct mgrc user = { .cred = { .uid = 1000, .gid = 1000 } };
	struct mgrc_file own, told;

	mgrc_open(&user, &rig.addr, 0);
	mgrc_stat_ok(&user, "f");
	ck_assert_int_eq(mgrc_declare(&user, NULL, 0, true), 0);
	ck_assert_int_eq(mgrc_open_file(&user, "f", HOLD, &own), 0);
	set_mode(0);
	told = own;
	told.open += 1000;
	ck_assert_int_eq(mgrc_declare(&user, &told, 1, true), 0);
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(grant(&user, &own), 0);
		ck_assert_int_eq(grant(&user, &told), -EACCES);
		if (!i)
			ck_assert_int_eq(mgrc_unlink(&c, "f"), 0);
		else
			crash();
	}
	mgrc_close(&user, true);
	mgrc_close(&r, true);
}
END_TEST

/*
 * A client without read permission cannot pass on an open for reading, whatever its own open asked
 * for, with a row or without.
 */
START_TEST(passed_on_unread)
{
	static const uint32_t how[] = { WIRE_O_HOLD,
					WIRE_O_HOLD | WIRE_O_APPEND,
					WIRE_O_HOLD | WIRE_O_TRUNC };
	struct mgrc user = { .cred = { .uid = 1000, .gid = 1000 } };
	struct mgrc_file own;

	mgrc_open(&user, &rig.addr, 0);
	set_mode(02);
	for (int i = 0; i < 6; i++) {
		if (i == 3)
			ck_assert_int_eq(mgrc_declare(&user, NULL, 0, true), 0);
		ck_assert_int_eq(mgrc_open_file(&user, "f", HOLD, &own),
				 -EACCES);
		ck_assert_int_eq(mgrc_open_file(&user, "f", how[i % 3], &own),
				 0);
		if (own.open)
			ck_assert_int_eq(grant(&user, &own), -EACCES);
	}
	mgrc_close(&user, true);
	mgrc_close(&r, true);
}
END_TEST

/*
 * A client declares open numbers before the manager issues them. The declared file does not replace
 * the file of a row, and is not held for ever.
 */
START_TEST(told_before_it_is_given)
{
	struct mgrc user = { .cred = { .uid = 1000, .gid = 1000 } };
	struct mgrc_file told[AHEAD], own;

	mgrc_open(&user, &rig.addr, 0);
	mgrc_stat_ok(&user, "f");
	set_mode(0666);
	ck_assert_int_eq(mgrc_open_file(&user, "f", WIRE_O_WRITE, &own), 0);
	ck_assert_int_eq(mgrc_rename(&c, "f", "g"), 0);
	ck_assert_int_eq(mgrc_make(&c, "f", 10), 0);
	set_mode(0666);
	ck_assert_int_eq(mgrc_unlink(&c, "g"), 0);
	for (unsigned int i = 0; i < AHEAD; i++) {
		told[i] = f;
		told[i].open = own.open + 1 + i;
	}
	ck_assert_int_eq(mgrc_declare(&user, told, AHEAD, true), 0);
	for (unsigned int i = 0; i < AHEAD; i++)
		ck_assert_int_eq(mgrc_open_file(&user, "f", WIRE_O_WRITE, &own),
				 0);
	mgrc_close(&user, true);
	ck_assert_int_eq(mgrc_release(&r, &f, 0, 0), 0);
	rig_until(!is_there());
	mgrc_close(&r, true);
}
END_TEST

static int adopt(struct mgrc *by, uint64_t session,
		 const struct mgrc_file *what)
{
	struct wire_adopt body = { .session = htole64(session),
				   .handle = htole64(what->handle),
				   .open = htole64(what->open) };

	return mgrc_call(by, WIRE_ADOPT, &body, sizeof(body), NULL, 0);
}

/*
 * A client adopts an open whose number is already the number of a hold in memory. The adopted open
 * keeps its row when the hold gets a row.
 */
START_TEST(adopted_by_a_number_of_its_own)
{
	struct mgrc user = { .cred = { .uid = 1000, .gid = 1000 } };
	struct mgrc too = user;
	struct mgrc_file own, told = f, held;

	mgrc_open(&user, &rig.addr, 0);
	mgrc_open(&too, &rig.addr, 0);
	mgrc_stat_ok(&user, "f");
	ck_assert_int_eq(mgrc_declare(&user, NULL, 0, true), 0);
	set_mode(0666);
	ck_assert_int_eq(mgrc_make(&c, "g", 10), 0);
	ck_assert_int_eq(mgrc_open_file(&user, "g", HOLD, &own), 0);
	ck_assert_int_eq(mgrc_open_file(&too, "f", HOLD, &held), 0);
	told.open = own.open;
	ck_assert_int_eq(mgrc_declare(&too, &told, 1, true), 0);
	ck_assert_int_eq(mgrc_release(&r, &f, 0, 0), 0);
	ck_assert_int_eq(mgrc_unlink(&c, "f"), 0);
	ck_assert_int_eq(adopt(&user, too.session, &told), 0);
	ck_assert(is_there());
	ck_assert_int_eq(mgrc_unlink(&c, "g"), 0);
	mgrc_close(&user, true);
	mgrc_close(&too, true);
	rig_until(!is_there());
	mgrc_close(&r, true);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("mgr_holds");
	TCase *tc = tcase_create("holds"), *full = tcase_create("full");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc, removed_meanwhile, 0, 2);
	tcase_add_test(tc, replaced_meanwhile);
	tcase_add_loop_test(tc, nobody_holds_it, 0, 3);
	tcase_add_loop_test(tc, removed_at_other_times, 0, 2);
	tcase_add_test(tc, too_late);
	tcase_add_loop_test(tc, told_by_another, 0, 2);
	tcase_add_test(tc, many);
	tcase_add_test(tc, silent);
	tcase_add_loop_test(tc, never_says_all, 0, 2);
	tcase_add_test(tc, passed_on);
	tcase_add_test(tc, passed_on_unread);
	tcase_add_test(tc, told_before_it_is_given);
	tcase_add_test(tc, adopted_by_a_number_of_its_own);
	suite_add_tcase(s, tc);
	tcase_add_checked_fixture(full, setup_patient, teardown);
	tcase_set_timeout(full, 120);
	tcase_add_test(full, no_room_in_memory);
	suite_add_tcase(s, full);
	return run_suite(s);
}
