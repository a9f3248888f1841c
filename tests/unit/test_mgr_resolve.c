/* SPDX-License-Identifier: BSD-2-Clause */
/* test_mgr_resolve.c - paths: dots, slashes, symlinks, and ways out. */
#include <errno.h>

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

START_TEST(test_resolve)
{
	struct {
		const char *path;
		int rc, lrc;
	} t[] = {
		{ "", 0, 0 },
		{ "/", 0, 0 },
		{ "d", 0, 0 },
		{ "/d/", 0, 0 },
		{ "d//e", 0, 0 },
		{ "d/./e/.", 0, 0 },
		{ "d/..", 0, 0 },
		{ "d/e/../../d/f", 0, 0 },
		{ "x", -ENOENT, -ENOENT },
		{ "x/y", -ENOENT, -ENOENT },
		{ "d/f/", -ENOTDIR, -ENOTDIR },
		{ "d/f/x", -ENOTDIR, -ENOTDIR },
		{ "d/f/..", -ENOTDIR, -ENOTDIR },
		{ "to_f", 0, 0 },
		{ "to_f/", -ENOTDIR, -ENOTDIR },
		{ "to_d", 0, 0 },
		{ "to_d/", 0, 0 },
		{ "to_d/f", 0, 0 },
		{ "to_d/to_up/d/f", 0, 0 },
		{ "dangling", -ENOENT, 0 },
		{ "loop", -ELOOP, 0 },
		{ "loop/x", -ELOOP, -ELOOP },
		{ "abs", NS_REDIRECT, 0 },
		{ "abs/x/y", NS_REDIRECT, NS_REDIRECT },
		{ "..", NS_REDIRECT, NS_REDIRECT },
		{ "d/../../x", NS_REDIRECT, NS_REDIRECT },
	};
	struct inode ino;

	ck_assert_int_eq(fx_mkdir(&fx, "d", 0755), 0);
	ck_assert_int_eq(fx_mkdir(&fx, "d/e", 0755), 0);
	ck_assert_int_eq(fx_creat(&fx, "d/f", 0644), 0);
	ck_assert_int_eq(fx_symlink(&fx, "d/f", "to_f"), 0);
	ck_assert_int_eq(fx_symlink(&fx, "./d//", "to_d"), 0);
	ck_assert_int_eq(fx_symlink(&fx, "..", "d/to_up"), 0);
	ck_assert_int_eq(fx_symlink(&fx, "nowhere", "dangling"), 0);
	ck_assert_int_eq(fx_symlink(&fx, "loop", "loop"), 0);
	ck_assert_int_eq(fx_symlink(&fx, "/abs/path", "abs"), 0);
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		ck_assert_msg(fx_stat(&fx, t[i].path, &ino) == t[i].rc,
			      "stat %s", t[i].path);
		ck_assert_msg(fx_lstat(&fx, t[i].path, &ino) == t[i].lrc,
			      "lstat %s", t[i].path);
	}
}
END_TEST

static void expect_redirect(const char *path, const char *to)
{
	struct inode ino;

	ck_assert_int_eq(fx_stat(&fx, path, &ino), NS_REDIRECT);
	ck_assert_int_eq(fx.ns.redirect_len, strlen(to));
	ck_assert_mem_eq(fx.ns.redirect, to, strlen(to));
}

START_TEST(test_redirect)
{
	ck_assert_int_eq(fx_mkdir(&fx, "d", 0755), 0);
	ck_assert_int_eq(fx_symlink(&fx, "/abs", "d/l"), 0);
	ck_assert_int_eq(fx_symlink(&fx, "../..//up", "d/m"), 0);
	expect_redirect("d/l", "/abs");
	expect_redirect("d/l/x/../y/", "/abs/x/../y/");
	expect_redirect("../x", "../x");
	expect_redirect("d/../..", "..");
	expect_redirect("d/m/z", "..//up/z");
}
END_TEST

START_TEST(test_names)
{
	char name[300], path[5000];
	struct inode ino;

	memset(name, 'n', sizeof(name));
	name[256] = '\0';
	ck_assert_int_eq(fx_mkdir(&fx, name, 0755), -ENAMETOOLONG);
	ck_assert_int_eq(fx_stat(&fx, name, &ino), -ENAMETOOLONG);
	name[255] = '\0';
	ck_assert_int_eq(fx_mkdir(&fx, name, 0755), 0);
	ck_assert_int_eq(fx_stat(&fx, name, &ino), 0);
	memset(path, '/', 4096);
	path[4096] = '\0';
	ck_assert_int_eq(fx_stat(&fx, path, &ino), -ENAMETOOLONG);
	path[4095] = '\0';
	ck_assert_int_eq(fx_stat(&fx, path, &ino), 0);
	/* the text of a symlink and the rest of the path together */
	memset(path, 'a', 4000);
	for (int i = 0; i < 4000; i += 100)
		path[i] = '/';
	path[0] = 'x';
	path[4000] = '\0';
	ck_assert_int_eq(fx_symlink(&fx, path, "long"), 0);
	ck_assert_int_eq(fx_stat(&fx, "long", &ino), -ENOENT);
	snprintf(path, sizeof(path), "long/%0200d", 0);
	ck_assert_int_eq(fx_stat(&fx, path, &ino), -ENAMETOOLONG);
}
END_TEST

START_TEST(test_loop_max)
{
	char a[16], b[16];
	struct inode ino;

	ck_assert_int_eq(fx_creat(&fx, "l0", 0644), 0);
	for (int i = 1; i <= 41; i++) {
		snprintf(a, sizeof(a), "l%d", i - 1);
		snprintf(b, sizeof(b), "l%d", i);
		ck_assert_int_eq(fx_symlink(&fx, a, b), 0);
	}
	ck_assert_int_eq(fx_stat(&fx, "l40", &ino), 0);
	ck_assert_int_eq(fx_stat(&fx, "l41", &ino), -ELOOP);
}
END_TEST

START_TEST(test_readlink)
{
	struct ns_path p = fx_path("l"), d = fx_path("/");
	char longest[4096];
	const char *text;
	struct inode ino;
	size_t len;

	memset(longest, 'x', 4095);
	longest[4095] = '\0';
	ck_assert_int_eq(fx_symlink(&fx, "", "l"), -ENOENT);
	ck_assert_int_eq(fx_symlink(&fx, longest, "l"), 0);
	ck_assert_int_eq(fx_symlink(&fx, "y", "l"), -EEXIST);
	ck_assert_int_eq(fx_symlink(&fx, "y", "m/"), -ENOENT);
	ck_assert_int_eq(FX_DO(&fx, ns_readlink(&op, &p, &text, &len)), 0);
	ck_assert_uint_eq(len, 4095);
	ck_assert_mem_eq(text, longest, 4095);
	ck_assert_int_eq(fx_lstat(&fx, "l", &ino), 0);
	ck_assert_uint_eq(ino.size, 4095);
	ck_assert_int_eq(FX_DO(&fx, ns_readlink(&op, &d, &text, &len)),
			 -EINVAL);
}
END_TEST

int main(void)
{
	TCase *tc = tcase_create("resolve");
	TCase *cases[] = { tc, NULL };

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, test_resolve);
	tcase_add_test(tc, test_redirect);
	tcase_add_test(tc, test_names);
	tcase_add_test(tc, test_loop_max);
	tcase_add_test(tc, test_readlink);
	return fx_main("mgr_resolve", cases);
}
