/* SPDX-License-Identifier: BSD-2-Clause */
/* test_mgr_move.c - renames with flags, and special files. */
#include <errno.h>
#include <unistd.h>

#include "tests/unit/mgr_fixture.h"

static struct fixture fx;

static void setup(void)
{
	fx_open(&fx);
}

static void teardown(void)
{
	fx_close(&fx);
}

static struct inode stat_ok(const char *path)
{
	struct inode ino = { 0 };

	ck_assert_int_eq(fx_lstat(&fx, path, &ino), 0);
	return ino;
}

static uint64_t handle_of(const char *path)
{
	return stat_ok(path).handle;
}

static int exchange(const char *a, const char *b)
{
	return fx_rename2(&fx, a, b, WIRE_RN_EXCHANGE);
}

START_TEST(test_noreplace)
{
	struct inode ino;

	ck_assert_int_eq(fx_creat(&fx, "a", 0644), 0);
	ck_assert_int_eq(fx_link(&fx, "a", "b"), 0);
	ck_assert_int_eq(fx_rename2(&fx, "a", "b", WIRE_RN_NOREPLACE), -EEXIST);
	ck_assert_int_eq(fx_rename2(&fx, "a", "a", WIRE_RN_NOREPLACE), -EEXIST);
	ck_assert_int_eq(fx_rename2(&fx, "a", "b/", WIRE_RN_NOREPLACE),
			 -EEXIST);
	ck_assert_int_eq(fx_rename2(&fx, "a", "/", WIRE_RN_NOREPLACE), -EEXIST);
	ck_assert_int_eq(fx_rename2(&fx, "a", "c/", WIRE_RN_NOREPLACE),
			 -ENOTDIR);
	ck_assert_int_eq(fx_rename2(&fx, "a", "c", WIRE_RN_NOREPLACE), 0);
	ck_assert_int_eq(fx_stat(&fx, "a", &ino), -ENOENT);
	ck_assert_int_eq(fx_stat(&fx, "c", &ino), 0);
}
END_TEST

static void make_tree(void)
{
	ck_assert_int_eq(fx_mkdir(&fx, "p", 0755), 0);
	ck_assert_int_eq(fx_mkdir(&fx, "q", 0755), 0);
	ck_assert_int_eq(fx_mkdir(&fx, "q/d", 0755), 0);
	ck_assert_int_eq(fx_mkdir(&fx, "q/d/e", 0755), 0);
	ck_assert_int_eq(fx_creat(&fx, "p/f", 0644), 0);
	ck_assert_int_eq(fx_creat(&fx, "p/g", 0644), 0);
}

START_TEST(test_exchange)
{
	uint64_t f, d;

	make_tree();
	f = handle_of("p/f");
	d = handle_of("q/d");
	ck_assert_int_eq(exchange("p/f", "q/d"), 0);
	ck_assert_uint_eq(handle_of("q/d"), f);
	ck_assert_uint_eq(handle_of("p/f"), d);
	ck_assert_uint_eq(handle_of("p/f/e/../.."), handle_of("p"));
	ck_assert_uint_eq(stat_ok("p").nlink, 3);
	ck_assert_uint_eq(stat_ok("q").nlink, 2);
	/* a directory and a file in one directory: the slash belongs to the directory */
	ck_assert_int_eq(exchange("p/g", "p/f/"), 0);
	ck_assert_uint_eq(handle_of("p/g"), d);
	ck_assert_uint_eq(stat_ok("p").nlink, 3);
	/* two directories */
	f = handle_of("q");
	ck_assert_int_eq(exchange("q", "p/g"), 0);
	ck_assert_uint_eq(handle_of("p/g"), f);
	ck_assert_uint_eq(handle_of("q"), d);
	ck_assert_int_eq(fx_rmdir(&fx, "q/e"), 0);
	ck_assert_int_eq(fx_rmdir(&fx, "q"), 0);
}
END_TEST

START_TEST(test_no_exchange)
{
	make_tree();
	ck_assert_int_eq(exchange("p/f", "no"), -ENOENT);
	ck_assert_int_eq(exchange("no", "p/f"), -ENOENT);
	ck_assert_int_eq(exchange("q", "q/d/e"), -EINVAL);
	ck_assert_int_eq(exchange("q/d/e", "q"), -EINVAL);
	ck_assert_int_eq(exchange("q/d", "p/f/"), -ENOTDIR);
	ck_assert_int_eq(exchange("p/f/", "q/d"), -ENOTDIR);
	ck_assert_int_eq(exchange("p/f/", "no"), -ENOENT);
	fx_become(&fx, 1000, 1000);
	ck_assert_int_eq(exchange("p/f", "p/g"), -EACCES);
	fx_become(&fx, 0, 0);
	ck_assert_int_eq(fx_chmod(&fx, "p", 0777), 0);
	fx_become(&fx, 1000, 1000);
	ck_assert_int_eq(exchange("p/f", "p/g"), 0);
	ck_assert_int_eq(exchange("p/f", "q/d"), -EACCES);
	ck_assert_int_eq(exchange("q/d", "p/f"), -EACCES);
}
END_TEST

/* A foreign directory does not replace a file, and cannot be moved. */
START_TEST(test_which_error)
{
	make_tree();
	ck_assert_int_eq(fx_chmod(&fx, "p", 0777), 0);
	ck_assert_int_eq(fx_chmod(&fx, "q", 0777), 0);
	ck_assert_int_eq(fx_mkdir(&fx, "p/full", 0755), 0);
	ck_assert_int_eq(fx_mkdir(&fx, "p/full/x", 0755), 0);
	fx_become(&fx, 1000, 1000);
	ck_assert_int_eq(fx_rename(&fx, "q/d", "p/f"), -ENOTDIR);
	ck_assert_int_eq(fx_rename(&fx, "p/f", "q/d"), -EISDIR);
	ck_assert_int_eq(fx_rename(&fx, "q/d", "p/d"), -EACCES);
	ck_assert_int_eq(fx_rename(&fx, "q/d", "p/full"), -EACCES);
	fx_become(&fx, 0, 0);
	ck_assert_int_eq(fx_rename(&fx, "q/d", "p/full"), -ENOTEMPTY);
}
END_TEST

START_TEST(test_special)
{
	struct inode ino;
	uint64_t open;

	ck_assert_int_eq(fx_mknod(&fx, "c", S_IFCHR | 0644, &ino), 0);
	ck_assert_uint_eq(stat_ok("c").mode, S_IFCHR | 0644);
	ck_assert_uint_eq(stat_ok("c").dist.base, 4);
	ck_assert_uint_eq(stat_ok("c").dist.pcount, 77);
	ck_assert_int_eq(fx_mknod(&fx, "c", S_IFIFO | 0644, &ino), -EEXIST);
	ck_assert_int_eq(fx_mknod(&fx, "x/", S_IFIFO | 0644, &ino), -ENOENT);
	fx_become(&fx, 1000, 1000);
	ck_assert_int_eq(fx_mknod(&fx, "b", S_IFBLK | 0644, &ino), -EACCES);
	fx_become(&fx, 0, 0);
	ck_assert_int_eq(fx_chmod(&fx, "/", 0777), 0);
	fx_become(&fx, 1000, 1000);
	ck_assert_int_eq(fx_mknod(&fx, "b", S_IFBLK | 0644, &ino), -EPERM);
	ck_assert_int_eq(fx_mknod(&fx, "p", S_IFIFO | 0600, &ino), 0);
	ck_assert_int_eq(fx_open_file(&fx, "p", WIRE_O_READ, 0, &ino, &open),
			 -ENXIO);
	ck_assert_int_eq(fx_unlink(&fx, "p"), 0);
	fx_become(&fx, 0, 0);
	ck_assert_int_eq(fx_unlink(&fx, "c"), 0);
	ck_assert_int_eq(fx_lstat(&fx, "c", &ino), -ENOENT);
}
END_TEST

/* A reader that holds the file is counted, but not as a writer. */
START_TEST(test_held)
{
	struct inode ino;
	uint64_t a, b, off;

	ck_assert_int_eq(fx_creat(&fx, "f", 0644), 0);
	ck_assert_int_eq(fx_open_file(&fx, "f", WIRE_O_READ | WIRE_O_HOLD, 0,
				      &ino, &a),
			 0);
	ck_assert_int_eq(fx_open_file(&fx, "f", WIRE_O_READ | WIRE_O_HOLD, 0,
				      &ino, &b),
			 0);
	ck_assert_uint_eq(ino.holders, 2);
	ck_assert_uint_eq(ino.writers, 0);
	ck_assert(!(ino.flags & INODE_ASK));
	ck_assert_int_eq(FX_DO(&fx, ns_append(&op, ino.handle, a, 5, &off)),
			 -EBADF);
	fx_reopen(&fx);
	ck_assert_int_eq(fx_unlink(&fx, "f"), 0);
	ck_assert_int_eq(fx_stat_handle(&fx, ino.handle, &ino), 0);
	ck_assert_int_eq(fx_release(&fx, ino.handle, a, 0, 0, 0), 0);
	ck_assert_int_eq(fx_release(&fx, ino.handle, a, 0, 0, 0), -EBADF);
	ck_assert_int_eq(fx_stat_handle(&fx, ino.handle, &ino), 0);
	ck_assert_int_eq(FX_DO(&fx, ns_drop_open(&op, fx.session)), 0);
	ck_assert_int_eq(fx_stat_handle(&fx, ino.handle, &ino), -ESTALE);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("move");
	TCase *cases[] = { tc, NULL };

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, test_noreplace);
	tcase_add_test(tc, test_exchange);
	tcase_add_test(tc, test_no_exchange);
	tcase_add_test(tc, test_which_error);
	tcase_add_test(tc, test_special);
	tcase_add_test(tc, test_held);
	return fx_main("mgr_move", cases);
}
