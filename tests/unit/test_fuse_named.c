/* SPDX-License-Identifier: BSD-2-Clause */
/* test_fuse_named.c - which removed objects the mount still knows. */
#include <sys/stat.h>

#include "client/fuse/cache/gone.h"
#include "client/fuse/cache/named.h"
#include "tests/run_suite.h"

#define DIRECTORY 12345u
#define FILES 100000u

static struct named *named;
static struct gone *gone;

static void set_up(void)
{
	named = named_new();
	gone = gone_new();
	ck_assert(named && gone);
}

static void tear_down(void)
{
	named_free(named);
	gone_free(gone);
}

static void tell(ino_t n, mode_t mode)
{
	const struct stat st = { .st_ino = n, .st_mode = mode, .st_nlink = 2 };

	named_told(named, &st);
}

static void is_known_when_lost(ino_t n)
{
	struct stat st;

	named_lost(named, n, gone);
	ck_assert(gone_is(gone, n, &st));
	ck_assert_uint_eq(st.st_nlink, 0);
}

/* A program has it open and looks at all that is in it, and another host removes it. */
START_TEST(directory_of_many_files)
{
	tell(DIRECTORY, S_IFDIR | 0755);
	for (ino_t n = DIRECTORY + 1; n <= DIRECTORY + FILES; n++)
		tell(n, S_IFREG | 0644);
	is_known_when_lost(DIRECTORY);
	is_known_when_lost(DIRECTORY + FILES);
}
END_TEST

START_TEST(file_among_directories)
{
	tell(DIRECTORY, S_IFREG | 0644);
	for (ino_t n = DIRECTORY + 1; n <= DIRECTORY + FILES; n++)
		tell(n, S_IFDIR | 0755);
	is_known_when_lost(DIRECTORY);
}
END_TEST

START_TEST(unknown)
{
	struct stat st;

	tell(DIRECTORY, S_IFDIR | 0755);
	named_lost(named, DIRECTORY + 1, gone);
	ck_assert(!gone_is(gone, DIRECTORY + 1, &st));
	ck_assert(!gone_is(gone, DIRECTORY, &st));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("fuse_named");
	TCase *tc = tcase_create("named");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, directory_of_many_files);
	tcase_add_test(tc, file_among_directories);
	tcase_add_test(tc, unknown);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
