/* SPDX-License-Identifier: BSD-2-Clause */
/* test_client_groups.c - a list of groups that was replaced by others is not sent. */
#include <errno.h>

#include "client/lib/session/server_call.h"
#include "client/lib/session/gid_lists.h"
#include "tests/run_suite.h"
#include "common/wire/wire.h"

#define LISTS 64u /* larger than WIRE_GROUPS_ALL together */

static uint32_t gid[WIRE_GROUPS_ALL];

/* The error must not be ENOENT, which means that a name does not exist. */
START_TEST(test_gone)
{
	static struct session s;
	static struct gid_lists table;
	uint32_t groups[WIRE_GROUPS_MAX];
	int n;

	ck_assert_int_eq(server_call_send_groups(&s, 1), -EAGAIN);
	gid_lists_init(&table);
	s.gid_lists = &table;
	for (uint32_t i = 0; i < LISTS; i++) {
		gid[0] = i;
		n = gid_lists_name(&table, gid, WIRE_GROUPS_ALL, groups);
		ck_assert(wire_groups_listed(groups, (uint32_t)n));
		ck_assert_uint_eq(wire_groups_list(groups), i + 1);
	}
	ck_assert_int_eq(server_call_send_groups(&s, 1), -EAGAIN);
	gid_lists_destroy(&table);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("client_groups");
	TCase *tc = tcase_create("client_groups");

	tcase_add_test(tc, test_gone);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
