/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mgr_copies.c - a new manager needs a copy of the leader's database while the leader sends a copy
 * to another new manager.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "tests/e2e/mgr/mgrrig.h"
#include "tests/run_suite.h"

#define OTHER 77u /* the member id with which the test joins */

static struct mgrrig rig, second;
static struct mgrc admin, other;
static uint64_t group;

static int change(struct mgrc *c, enum wire_managers_cmd cmd, uint64_t id,
		  const char *uri)
{
	const struct wire_managers body = { htole64(id), htole32(cmd),
					    htole32((uint32_t)strlen(uri)) };
	const struct mgrc_item tail = { uri, strlen(uri) };

	return mgrc_call(c, WIRE_MANAGERS, &body, sizeof(body), &tail, 1);
}

static int fetch(uint64_t offset, uint32_t len, struct wire_fetch_rep *rep)
{
	const struct wire_fetch body = { .group = htole64(group),
					 .member = htole64(OTHER),
					 .offset = htole64(offset),
					 .len = htole32(len),
					 .nmem = htole32(1) };
	const struct wire_mem mem = { htole64((uintptr_t)other.arena),
				      htole32(len), htole32(other.mr->rkey) };
	const struct mgrc_item tail = { &mem, sizeof(mem) };
	int rc = mgrc_call(&other, WIRE_FETCH, &body, sizeof(body), &tail, 1);

	if (!rc)
		memcpy(rep, other.body, sizeof(*rep));
	return rc;
}

/* The test joins with the address of [mgr.2], at which no manager listens. */
static void setup(void)
{
	struct wire_managers_rep rep;

	rig_open(&rig);
	rig_open(&second);
	second.index = 1;
	snprintf(rig.more, sizeof(rig.more),
		 "[mgr.1]\naddress = tcp://127.0.0.1:%d\nstorage = %s/mgr\n"
		 "[mgr.2]\naddress = tcp://127.0.0.1:9\nstorage = /none\n",
		 second.port, second.dir);
	rig_configure(&rig);
	strcpy(second.conf, rig.conf);
	rig_start(&rig);
	memset(&admin, 0, sizeof(admin));
	mgrc_open(&admin, &rig.addr, 0);
	ck_assert_int_eq(change(&admin, WIRE_MA_STATUS, 0, ""), 0);
	memcpy(&rep, admin.body, sizeof(rep));
	group = le64toh(rep.group);
	other = (struct mgrc){ .cred = { .name = "pvfs-mgr" },
			       .role = WIRE_ROLE_MGR };
	mgrc_open(&other, &rig.addr, 0);
}

static void teardown(void)
{
	mgrc_close(&other, true);
	mgrc_close(&admin, true);
	rig_close(&rig);
	rig_close(&second);
}

/* The second manager gets its copy when the first copy is complete. */
START_TEST(test_one_at_a_time)
{
	struct wire_fetch_rep rep = { 0 };
	uint64_t offset;

	rig_until(!change(&other, WIRE_MA_JOIN, OTHER, "tcp://127.0.0.1:9"));
	rig_until(!fetch(0, 4096, &rep));
	offset = le32toh(rep.len);
	rig_spawn(&second);
	ck_assert(rig_says(&second, "waits for its turn"));
	while (!le32toh(rep.end)) {
		ck_assert_int_eq(fetch(offset, MGRC_ARENA, &rep), 0);
		offset += le32toh(rep.len);
	}
	ck_assert_uint_gt(offset, 4096);
	ck_assert(rig_says(&second, "uses the copy"));
	ck_assert_ptr_null(strstr(second.said, "another copy"));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("mgr_copies");
	TCase *tc = tcase_create("copies");

	tcase_set_timeout(tc, 240);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_one_at_a_time);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
