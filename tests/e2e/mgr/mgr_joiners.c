/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mgr_joiners.c - programs that may not join a group of one manager, or copy its database: clients,
 * another manager, and a member that has lost its log.
 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/e2e/mgr/mgrrig.h"
#include "tests/run_suite.h"

static struct mgrrig rig;
static struct mgrc admin;
static uint64_t group, self; /* of the manager */

static int change(struct mgrc *c, enum wire_managers_cmd cmd, uint64_t id,
		  const char *uri)
{
	const struct wire_managers body = { htole64(id), htole32(cmd),
					    htole32((uint32_t)strlen(uri)) };
	const struct mgrc_item tail = { uri, strlen(uri) };

	return mgrc_call(c, WIRE_MANAGERS, &body, sizeof(body), &tail, 1);
}

static int join(struct mgrc *c, const char *uri)
{
	return change(c, WIRE_MA_JOIN, 77, uri);
}

static int fetch(struct mgrc *c, uint64_t of, uint64_t member, uint64_t offset)
{
	const struct wire_fetch body = { .group = htole64(of),
					 .member = htole64(member),
					 .offset = htole64(offset),
					 .len = htole32(4096),
					 .nmem = htole32(1) };
	const struct wire_mem mem = { htole64((uintptr_t)c->arena),
				      htole32(4096), 0 };
	const struct mgrc_item tail = { &mem, sizeof(mem) };

	return mgrc_call(c, WIRE_FETCH, &body, sizeof(body), &tail, 1);
}

/* Checks that the group still has only its founder, and that it serves. */
static void check_group(void)
{
	struct wire_managers_rep rep;

	ck_assert_int_eq(change(&admin, WIRE_MA_STATUS, 0, ""), 0);
	memcpy(&rep, admin.body, sizeof(rep));
	ck_assert_uint_eq(le32toh(rep.n), 1);
	group = le64toh(rep.group);
	self = le64toh(rep.self);
	ck_assert_int_eq(mgrc_mkdir(&admin, "d"), 0);
	ck_assert_int_eq(mgrc_rmdir(&admin, "d"), 0);
}

static void setup(void)
{
	rig_serve(&rig, "", &admin);
	check_group();
}

static void teardown(void)
{
	mgrc_close(&admin, true);
	rig_close(&rig);
}

static void say_own_address(char *uri, size_t len)
{
	snprintf(uri, len, "tcp://127.0.0.1:%d", rig.port);
}

/* A client may not join, even if root runs it. */
START_TEST(test_client)
{
	char own[64];

	say_own_address(own, sizeof(own));
	ck_assert_int_eq(join(&admin, own), -EPERM);
	ck_assert_int_eq(join(&admin, "tcp://127.0.0.1:9"), -EPERM);
	ck_assert_int_eq(fetch(&admin, group, self, 0), -ENOSYS);
	check_group();
}
END_TEST

/*
 * A manager may not join without an address in the configuration, or with the address of another
 * member. It may not fetch a copy if it is not a member.
 */
START_TEST(test_manager)
{
	struct mgrc other = { .cred = { .name = "pvfs-mgr" },
			      .role = WIRE_ROLE_MGR };
	char own[64];

	say_own_address(own, sizeof(own));
	mgrc_open(&other, &rig.addr, 0);
	ck_assert_int_eq(join(&other, "tcp://127.0.0.1:9"), -EDESTADDRREQ);
	ck_assert_int_eq(join(&other, own), -EEXIST);
	ck_assert_int_eq(change(&other, WIRE_MA_REMOVE, self, ""), -EPERM);
	ck_assert_int_eq(change(&other, WIRE_MA_TRANSFER, 0, ""), -EPERM);
	ck_assert_int_eq(fetch(&other, group + 1, self, 0), -ESTALE);
	ck_assert_int_eq(fetch(&other, group, self + 1, 0), -ENOENT);
	ck_assert_int_eq(fetch(&other, group, self, 4096), -ENXIO);
	check_group();
	mgrc_close(&other, true);
}
END_TEST

/*
 * A member without its log does not start: it has forgotten entries that it had confirmed, and
 * would vote.
 */
START_TEST(test_lost_log)
{
	char cmd[128];

	rig_stop(&rig);
	snprintf(cmd, sizeof(cmd), "cd %s/mgr && rm -r db raft/log.*", rig.dir);
	ck_assert_int_eq(system(cmd), 0);
	rig_spawn(&rig);
	ck_assert(rig_says(&rig, "has lost the log of its member"));
	rig_kill(&rig);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("mgr_joiners");
	TCase *tc = tcase_create("joiners");

	tcase_set_timeout(tc, 240);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_client);
	tcase_add_test(tc, test_manager);
	tcase_add_test(tc, test_lost_log);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
