/* SPDX-License-Identifier: BSD-2-Clause */
/* test_hash_table.c - an entry is not added if there is no memory. */
#include <check.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

static bool full;

static void *memory(size_t len)
{
	return full ? NULL : malloc(len);
}
#define uthash_malloc(len) memory(len)

#include "common/util/hash_table.h"
#include "tests/run_suite.h"

#define ENTRIES 1000u /* so many that the table grows several times */

struct entry {
	uint64_t key;
	UT_hash_handle hh;
};

static struct entry *find(struct entry *table, uint64_t key)
{
	struct entry *e;

	HASH_FIND(hh, table, &key, sizeof(key), e);
	return e;
}

START_TEST(there_or_not)
{
	static struct entry e[ENTRIES];
	struct entry *table = NULL;
	uint64_t i;

	for (i = 0; i < ENTRIES; i++) {
		e[i].key = i;
		full = i % 3 == 0;
		HASH_ADD(hh, table, key, sizeof(e[i].key), &e[i]);
	}
	ck_assert_ptr_null(e[0].hh.tbl);
	for (i = 0; i < ENTRIES; i++)
		ck_assert_ptr_eq(find(table, i), e[i].hh.tbl ? &e[i] : NULL);
	full = false;
	HASH_CLEAR(hh, table);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("hash_table");
	TCase *tc = tcase_create("memory");

	tcase_add_test(tc, there_or_not);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
