/* SPDX-License-Identifier: BSD-2-Clause */
/* test_open_paths.c - the last path of an open file, until its entry is used for another file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mgr/state/open_paths.h"
#include "tests/run_suite.h"

static struct open_paths paths;

static bool is(uint64_t handle, const char *want)
{
	uint8_t name[WIRE_METRIC_NAME], all[WIRE_METRIC_NAME] = { 0 };

	memcpy(all, want, strlen(want));
	open_paths_find(&paths, handle, name);
	return !memcmp(name, all, sizeof(all));
}

START_TEST(the_last_one)
{
	memset(&paths, 0, sizeof(paths));
	ck_assert(is(0, ""));
	ck_assert(is(5, ""));
	open_paths_note(&paths, 5, "dir/longer", 10);
	open_paths_note(&paths, 5, "a", 1);
	ck_assert(is(5, "a"));
	open_paths_note(&paths, 5, "", 0);
	ck_assert(is(5, "a"));
	open_paths_note(NULL, 5, "b", 1);
}
END_TEST

START_TEST(its_end)
{
	char path[WIRE_PATH_MAX], end[WIRE_METRIC_NAME + 1] = { 0 };

	for (size_t i = 0; i < sizeof(path); i++)
		path[i] = (char)('a' + i % 26);
	memcpy(end, path + sizeof(path) - WIRE_METRIC_NAME, WIRE_METRIC_NAME);
	open_paths_note(&paths, 6, path, sizeof(path));
	ck_assert(is(6, end));
	memcpy(end, path, WIRE_METRIC_NAME);
	open_paths_note(&paths, 6, path, WIRE_METRIC_NAME);
	ck_assert(is(6, end));
}
END_TEST

/* An entry has the right name, or none. */
START_TEST(many)
{
	unsigned int known = 0;
	char name[32];

	memset(&paths, 0, sizeof(paths));
	for (uint64_t h = 1; h < 20000; h++) {
		snprintf(name, sizeof(name), "file%llu", (unsigned long long)h);
		open_paths_note(&paths, h, name, strlen(name));
		ck_assert(is(h, name));
	}
	for (uint64_t h = 1; h < 20000; h++) {
		snprintf(name, sizeof(name), "file%llu", (unsigned long long)h);
		ck_assert(is(h, name) || is(h, ""));
		known += is(h, name);
	}
	ck_assert_uint_gt(known, OPEN_PATHS_MAX / 2);
	ck_assert_uint_le(known, OPEN_PATHS_MAX);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("paths");
	TCase *tc = tcase_create("paths");

	tcase_add_test(tc, the_last_one);
	tcase_add_test(tc, its_end);
	tcase_add_test(tc, many);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
