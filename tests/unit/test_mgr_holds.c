/* SPDX-License-Identifier: BSD-2-Clause */
/* test_mgr_holds.c - opens for reading, which are held in memory. */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "tests/unit/mgr_fixture.h"

#define HOLD (WIRE_O_READ | WIRE_O_HOLD)

static struct fixture fx;
static uint64_t file;

static void setup(void)
{
	struct inode ino;

	fx_open(&fx);
	ck_assert_int_eq(fx_creat(&fx, "f", 0644), 0);
	ck_assert_int_eq(fx_stat(&fx, "f", &ino), 0);
	file = ino.handle;
	fx.declares = true;
}

static void teardown(void)
{
	ns_close_space(&fx.ns, true);
	fx_close(&fx);
}

static uint64_t hold(void)
{
	struct inode ino;
	uint64_t open;

	ck_assert_int_eq(fx_open_file(&fx, "f", HOLD, 0, &ino, &open), 0);
	ck_assert_uint_ne(open, 0);
	return open;
}

static bool is_there(void)
{
	struct inode ino;
	int rc = fx_stat_handle(&fx, file, &ino);

	ck_assert(!rc || rc == -ESTALE);
	return !rc;
}

static int let_go(uint64_t open)
{
	return fx_release(&fx, file, open, 0, 0, 0);
}

static int declare(uint64_t open)
{
	struct ns_hold what = { file, open };

	return FX_DO(&fx, ns_declare(&op, &what));
}

static int remove_later(void)
{
	return FX_DO(&fx, ns_remove_later(&op));
}

static uint32_t holders(void)
{
	struct inode ino;

	ck_assert_int_eq(fx_stat_handle(&fx, file, &ino), 0);
	return ino.holders;
}

/* As the manager does at the end of the session fx.session. */
static void end_session(void)
{
	int rc;

	while (ns_forget_holds(&fx.ns, fx.session))
		;
	while (!(rc = FX_DO(&fx, ns_drop_open(&op, fx.session))))
		;
	ck_assert_int_eq(rc, -ENOENT);
}

START_TEST(nothing_is_written)
{
	struct ns_open_args args = { .path = fx_path("f"), .flags = HOLD };
	struct ns_release_args rel = { .handle = file };
	struct ns_op op = fx_begin(&fx);
	struct inode ino;
	bool truncate;

	ck_assert_int_eq(ns_open(&op, &args, &ino, &rel.open, &truncate), 0);
	ck_assert(op.kept && !op.held);
	ck_assert_int_eq(ns_release(&op, &rel), 0);
	ck_assert(!store_changed(fx.db.st));
	ck_assert_int_eq(ns_release(&op, &rel), -EBADF);
	ns_abort(&fx.ns);
	ck_assert_uint_eq(fx.ns.holds.n, 0);
}
END_TEST

/*
 * The hold ends: case 0 by its holder, case 1 with its session, case 2 with its session after a
 * restart.
 */
START_TEST(last_name)
{
	uint64_t a = hold(), b = hold();

	ck_assert_uint_eq(holders(), 0);
	ck_assert_int_eq(fx_unlink(&fx, "f"), 0);
	ck_assert_uint_eq(holders(), 2);
	if (_i == 2)
		fx_reopen(&fx);
	if (_i) {
		end_session();
	} else {
		ck_assert_int_eq(let_go(a), 0);
		ck_assert(is_there());
		ck_assert_int_eq(let_go(b), 0);
	}
	ck_assert(!is_there());
	ck_assert_uint_eq(fx.ns.holds.n, 0);
}
END_TEST

START_TEST(replaced)
{
	uint64_t a = hold();

	ck_assert_int_eq(fx_creat(&fx, "g", 0644), 0);
	ck_assert_int_eq(fx_rename(&fx, "g", "f"), 0);
	ck_assert(is_there());
	ck_assert_int_eq(let_go(a), 0);
	ck_assert(!is_there());
}
END_TEST

START_TEST(other_names_do_not_count)
{
	uint64_t a = hold();

	ck_assert_int_eq(fx_link(&fx, "f", "g"), 0);
	ck_assert_int_eq(fx_unlink(&fx, "f"), 0);
	ck_assert_uint_eq(holders(), 0);
	ck_assert_int_eq(fx_unlink(&fx, "g"), 0);
	ck_assert_uint_eq(holders(), 1);
	ck_assert_int_eq(let_go(a), 0);
	ck_assert(!is_there());
}
END_TEST

/* Rows of a transaction that is not committed are written by the next one. */
START_TEST(aborted)
{
	struct inode dir;
	struct ns_path p = fx_path("f");
	uint64_t a = hold();
	struct ns_op op = fx_begin(&fx);

	ck_assert_int_eq(ns_unlink(&op, &p, &dir), 0);
	ns_abort(&fx.ns);
	if (_i) {
		ck_assert_int_eq(let_go(a), 0);
		ck_assert_int_eq(fx_unlink(&fx, "f"), 0);
		ck_assert(!is_there());
		return;
	}
	ck_assert_int_eq(fx_unlink(&fx, "f"), 0);
	ck_assert_uint_eq(holders(), 1);
	ck_assert_int_eq(let_go(a), 0);
	ck_assert(!is_there());
}
END_TEST

/* An open of a file without a name has a row at once. */
START_TEST(opened_without_a_name)
{
	struct ns_open_args args = { .path = { .dir = file, .path = "" },
				     .flags = HOLD };
	uint64_t a = hold(), b;
	struct inode ino;
	bool truncate;

	ck_assert_int_eq(fx_unlink(&fx, "f"), 0);
	ck_assert_int_eq(FX_DO(&fx, ns_open(&op, &args, &ino, &b, &truncate)),
			 0);
	ck_assert_uint_eq(holders(), 2);
	ck_assert_int_eq(let_go(a), 0);
	fx_reopen(&fx);
	ck_assert(is_there());
	ck_assert_int_eq(let_go(b), 0);
	ck_assert(!is_there());
}
END_TEST

/* The file was unlinked before its reader reconnected. */
START_TEST(gone_before_it_was_declared)
{
	uint64_t a = hold();

	fx_reopen(&fx);
	ck_assert_int_eq(ns_expect_declare(&fx.ns, fx.session), 0);
	ck_assert_int_eq(fx_unlink(&fx, "f"), 0);
	ck_assert(is_there());
	if (_i == 2) { /* again before that */
		fx_reopen(&fx);
		ck_assert_int_eq(ns_expect_declare(&fx.ns, fx.session), 0);
	}
	if (_i) {
		ck_assert_int_eq(declare(a), 0);
		ck_assert_int_eq(declare(a), 0);
		ns_all_declared(&fx.ns, fx.session);
	} else { /* it never does */
		end_session();
	}
	ck_assert_uint_eq(fx.ns.holds.missing, 0);
	ck_assert_int_eq(remove_later(), 0);
	ck_assert_int_eq(remove_later(), -ENOENT);
	ck_assert_int_eq(is_there(), _i != 0);
	if (_i)
		ck_assert_int_eq(let_go(a), 0);
	ck_assert(!is_there());
	ck_assert_uint_eq(fx.ns.holds.n, 0);
}
END_TEST

/* A hold with a row is declared as well. */
START_TEST(declared_with_a_row)
{
	uint64_t a = hold();

	ck_assert_int_eq(fx_unlink(&fx, "f"), 0);
	fx_reopen(&fx);
	ck_assert_int_eq(ns_expect_declare(&fx.ns, fx.session), 0);
	ck_assert_int_eq(declare(a), 0);
	ns_all_declared(&fx.ns, fx.session);
	ck_assert_uint_eq(holders(), 1);
	ck_assert_int_eq(let_go(a), 0);
	ck_assert(!is_there());
}
END_TEST

/* The release arrived before the declaration. */
START_TEST(released_before_it_was_declared)
{
	uint64_t a = hold(), b = hold();

	if (_i)
		ck_assert_int_eq(fx_unlink(&fx, "f"), 0);
	fx_reopen(&fx);
	ck_assert_int_eq(ns_expect_declare(&fx.ns, fx.session), 0);
	ck_assert_int_eq(let_go(a), 0);
	ck_assert_int_eq(declare(a), 0);
	ck_assert_int_eq(declare(b), 0);
	ns_all_declared(&fx.ns, fx.session);
	ck_assert(!ns_tidy_holds(&fx.ns));
	ck_assert_uint_eq(fx.ns.holds.n, 1);
	ck_assert_int_eq(let_go(a), -EBADF);
	if (!_i)
		ck_assert_int_eq(fx_unlink(&fx, "f"), 0);
	ck_assert(is_there());
	ck_assert_int_eq(let_go(b), 0);
	ck_assert(!is_there());
}
END_TEST

/* One session that has not declared is enough to wait. */
START_TEST(all_must_declare)
{
	fx_reopen(&fx);
	ck_assert_int_eq(ns_expect_declare(&fx.ns, 1), 0);
	ck_assert_int_eq(ns_expect_declare(&fx.ns, 2), 0);
	ck_assert_int_eq(ns_expect_declare(&fx.ns, 2), 0);
	ns_all_declared(&fx.ns, 1);
	ns_all_declared(&fx.ns, 1);
	ck_assert_int_eq(fx_unlink(&fx, "f"), 0);
	ck_assert(is_there());
	ns_all_declared(&fx.ns, 2);
	ck_assert_int_eq(fx_count_intents(&fx, INTENT_LATER), 1);
	ck_assert_int_eq(remove_later(), 0);
	ck_assert(!is_there());
}
END_TEST

/*
 * Declarations of a file that does not exist, of a folder, and with the number of another session's
 * open.
 */
START_TEST(declared_in_vain)
{
	struct ns_hold what[] = { { file + 100, 5 }, { fx.ns.root, 6 } };
	uint64_t a = hold();

	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(FX_DO(&fx, ns_declare(&op, &what[i])), 0);
	fx.session = 78;
	ck_assert_int_eq(declare(a), 0);
	ck_assert_uint_eq(fx.ns.holds.n, 2);
	ck_assert_int_eq(let_go(a), 0);
	ck_assert_int_eq(let_go(a), -EBADF);
	fx.session = 77;
	ck_assert_uint_eq(fx.ns.holds.n, 1);
	ck_assert_int_eq(let_go(a), 0);
}
END_TEST

/* A read changes only the access time. */
START_TEST(access_time)
{
	struct inode before, after;
	uint64_t a = hold();

	ck_assert_int_eq(fx_stat(&fx, "f", &before), 0);
	ck_assert_int_eq(fx_release(&fx, file, a, WIRE_R_READ, 0, ++fx.now), 0);
	ck_assert_int_eq(fx_stat(&fx, "f", &after), 0);
	ck_assert_int_gt(after.atime, before.atime);
	ck_assert_int_eq(after.ctime, before.ctime);
}
END_TEST

static atomic_bool little; /* the disk has little space */

int statvfs(const char *path, struct statvfs *vfs)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc = fd < 0 ? -1 : fstatvfs(fd, vfs);

	if (fd >= 0)
		close(fd);
	if (!rc && atomic_load(&little))
		vfs->f_bavail = 0;
	return rc;
}

/* Other requests need the space to make room. */
static int declare_with_little_room(struct ns_op *op,
				    const struct ns_hold *what)
{
	int rc;

	atomic_store(&little, true);
	while (!store_check_space(fx.db.st))
		usleep(1000);
	rc = ns_declare(op, what);
	atomic_store(&little, false);
	while (store_check_space(fx.db.st))
		usleep(1000);
	return rc;
}

/*
 * The share of one session in the memory is bounded.  More holds get rows, as long as there is room
 * for that.
 */
START_TEST(many_of_one)
{
	const uint32_t most = 1u << 18;
	struct ns_hold what = { file, 0 };
	struct ns_op op = fx_begin(&fx);
	struct open_rec rec;

	for (uint32_t i = 0; i < most; i++) {
		what.open = (UINT64_C(1) << 63) + 1 + i;
		ck_assert_int_eq(ns_declare(&op, &what), 0);
	}
	what.open++;
	ck_assert_int_eq(declare_with_little_room(&op, &what), -ENOSPC);
	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(ns_declare(&op, &what), 0);
	ck_assert_int_eq(open_get(fx.db.st, op.session, what.open, &rec), 0);
	ck_assert_uint_eq(rec.handle, file);
	ck_assert_uint_eq(rec.flags, OPEN_HOLD | OPEN_DECLARED);
	ck_assert_uint_eq(fx.ns.holds.n, most);
	op.session++;
	ck_assert_int_eq(ns_declare(&op, &what), 0);
	ns_abort(&fx.ns);
	ck_assert_uint_eq(fx.ns.holds.n, most + 1);
	hold();
	ck_assert_uint_eq(fx.ns.holds.n, most + 1);
	ck_assert_uint_eq(holders(), 1);
	ck_assert_int_eq(declare(what.open), 0);
	ck_assert_uint_eq(holders(), 2);
	ck_assert_int_eq(let_go(what.open), 0);
	ck_assert_uint_eq(holders(), 1);
	while (ns_forget_holds(&fx.ns, fx.session))
		;
	ck_assert_uint_eq(fx.ns.holds.n, 1);
	hold();
	ck_assert_uint_eq(fx.ns.holds.n, 2);
}
END_TEST

/* ---- many holders: the work is done in turns ---- */

#define MANY 1000u
/* Each row is looked up and written; some more steps begin and end a turn. */
#define WORK_MAX (NS_TURN_STEPS + 32u)

static uint64_t holds_of[MANY];

static void hold_many(void)
{
	for (unsigned int i = 0; i < MANY; i++)
		holds_of[i] = hold();
}

/* One turn of unlink(f), or of rename(g, f). */
static int leave_turn(struct ns_pause *pause, bool replace)
{
	struct ns_path f = fx_path("f"), g = fx_path("g");
	uint64_t before = ns_work(&fx.ns);
	struct ns_op op = fx_begin(&fx);
	struct inode dir;
	int rc;

	op.pause = pause;
	rc = replace ? ns_rename(&op, &g, &f, 0) : ns_unlink(&op, &f, &dir);
	fx_end(&fx, &op, rc);
	ck_assert_uint_le(ns_work(&fx.ns) - before, WORK_MAX);
	return rc;
}

static uint64_t open_by_other(bool *kept)
{
	struct ns_open_args args = { .path = fx_path("f"), .flags = HOLD };
	struct ns_op op = fx_begin(&fx);
	struct inode ino;
	uint64_t open;
	bool truncate;

	op.session = 78;
	ck_assert_int_eq(ns_open(&op, &args, &ino, &open, &truncate), 0);
	*kept = op.kept;
	fx_end(&fx, &op, 0);
	return open;
}

/* A client that opens the file meanwhile gets a row at once, so that the work ends. */
START_TEST(many_holders)
{
	struct ns_pause pause = { 0 };
	unsigned int turns = 1;
	uint64_t other;
	bool kept;

	hold_many();
	ck_assert_int_eq(fx_creat(&fx, "g", 0644), 0);
	ck_assert_int_eq(leave_turn(&pause, _i), NS_PART);
	ck_assert_uint_eq(holders(), NS_TURN_STEPS / 2);
	other = open_by_other(&kept);
	ck_assert(!kept);
	/* a holder that already has a row, and one that has none yet */
	ck_assert_int_eq(let_go(holds_of[MANY - 1]), 0);
	ck_assert_int_eq(let_go(holds_of[0]), 0);
	while (leave_turn(&pause, _i) == NS_PART)
		turns++;
	ck_assert_uint_eq(turns, MANY / (NS_TURN_STEPS / 2));
	ns_pause_end(&fx.ns, &pause);
	ck_assert_uint_eq(holders(), MANY - 1);
	fx_reopen(&fx);
	for (unsigned int i = 1; i < MANY - 1; i++)
		ck_assert_int_eq(let_go(holds_of[i]), 0);
	ck_assert(is_there());
	fx.session = 78;
	ck_assert_int_eq(let_go(other), 0);
	ck_assert(!is_there());
}
END_TEST

/* The work is given up between two turns; case 1: by a restart. */
START_TEST(many_holders_stay)
{
	struct ns_pause pause = { 0 };
	bool kept;

	hold_many();
	ck_assert_int_eq(leave_turn(&pause, false), NS_PART);
	ns_pause_end(&fx.ns, &pause);
	open_by_other(&kept);
	ck_assert(kept);
	if (_i)
		fx_reopen(&fx);
	for (unsigned int i = 0; i < MANY; i++) {
		if (_i)
			ck_assert_int_eq(declare(holds_of[i]), 0);
		ck_assert_int_eq(let_go(holds_of[i]), 0);
	}
	ck_assert_uint_eq(holders(), 0);
	ck_assert_int_eq(fx_unlink(&fx, "f"), 0);
	ck_assert_int_eq(is_there(), !_i);
}
END_TEST

/* A turn whose transaction is not committed is repeated. */
START_TEST(turn_is_aborted)
{
	struct ns_path p = fx_path("f");
	struct ns_pause pause = { 0 };
	struct inode dir;
	struct ns_op op;

	hold_many();
	ck_assert_int_eq(leave_turn(&pause, false), NS_PART);
	op = fx_begin(&fx);
	op.pause = &pause;
	ck_assert_int_eq(ns_unlink(&op, &p, &dir), NS_PART);
	ns_abort(&fx.ns);
	while (leave_turn(&pause, false) == NS_PART)
		;
	ns_pause_end(&fx.ns, &pause);
	ck_assert_uint_eq(holders(), MANY);
}
END_TEST

/* The end of a session, and holds that were released before they were declared. */
START_TEST(many_are_forgotten)
{
	const unsigned int all = 2 * NS_FORGET_HOLDS + 1;
	unsigned int n = all;
	uint64_t first = hold();

	for (unsigned int i = 1; i < all; i++)
		hold();
	if (_i) {
		fx_reopen(&fx);
		ck_assert_int_eq(ns_expect_declare(&fx.ns, 78), 0);
		ck_assert_int_eq(ns_expect_declare(&fx.ns, fx.session), 0);
		for (unsigned int i = 0; i < all; i++)
			ck_assert_int_eq(let_go(first + i), 0);
		ns_all_declared(&fx.ns, fx.session);
		ck_assert(!ns_tidy_holds(&fx.ns));
		ns_all_declared(&fx.ns, 78);
	}
	ck_assert_uint_eq(fx.ns.holds.n, n);
	while (_i ? ns_tidy_holds(&fx.ns)
		  : ns_forget_holds(&fx.ns, fx.session)) {
		ck_assert_uint_eq(n - fx.ns.holds.n, NS_FORGET_HOLDS);
		n = fx.ns.holds.n;
	}
	ck_assert_uint_eq(fx.ns.holds.n, 0);
}
END_TEST

/* Holds of an ended session are dropped without rows. */
START_TEST(others_have_ended)
{
	struct ns_pause pause = { 0 };
	unsigned int turns = 1;
	uint64_t live;

	for (unsigned int i = 0; i < NS_FORGET_HOLDS; i++)
		hold();
	ns_session_ended(&fx.ns, fx.session);
	fx.session = 78;
	live = hold();
	while (leave_turn(&pause, false) == NS_PART)
		turns++;
	ns_pause_end(&fx.ns, &pause);
	ck_assert_uint_eq(turns, 3);
	ck_assert_uint_eq(holders(), 1);
	ck_assert_uint_eq(fx.ns.holds.n, 1);
	ck_assert_int_eq(let_go(live), 0);
	ck_assert(!is_there());
}
END_TEST

START_TEST(held_in_memory)
{
	hold_many();
	ck_assert_uint_eq(ns_count_holds(&fx.ns, fx.session), MANY);
	ck_assert_uint_eq(ns_count_holds(&fx.ns, 78), 0);
	ck_assert_int_eq(let_go(holds_of[0]), 0);
	ck_assert_uint_eq(ns_count_holds(&fx.ns, fx.session), MANY - 1);
	ck_assert_int_eq(fx_unlink(&fx, "f"), 0);
	ck_assert_uint_eq(ns_count_holds(&fx.ns, fx.session), 0);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("holds");
	TCase *cases[] = { tc, NULL };

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, nothing_is_written);
	tcase_add_loop_test(tc, last_name, 0, 3);
	tcase_add_test(tc, replaced);
	tcase_add_test(tc, other_names_do_not_count);
	tcase_add_loop_test(tc, aborted, 0, 2);
	tcase_add_test(tc, opened_without_a_name);
	tcase_add_loop_test(tc, gone_before_it_was_declared, 0, 3);
	tcase_add_test(tc, declared_with_a_row);
	tcase_add_loop_test(tc, released_before_it_was_declared, 0, 2);
	tcase_add_test(tc, all_must_declare);
	tcase_add_test(tc, declared_in_vain);
	tcase_add_test(tc, access_time);
	tcase_add_test(tc, many_of_one);
	tcase_add_loop_test(tc, many_holders, 0, 2);
	tcase_add_loop_test(tc, many_holders_stay, 0, 2);
	tcase_add_test(tc, turn_is_aborted);
	tcase_add_loop_test(tc, many_are_forgotten, 0, 2);
	tcase_add_test(tc, others_have_ended);
	tcase_add_test(tc, held_in_memory);
	return fx_main("mgr_holds", cases);
}
