/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_mgr_exports.c - the rights of a client by its network, and the user that its requests count
 * for.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "mgr/exports/exports.h"
#include "mgr/ns/ns_int.h"
#include "tests/run_suite.h"
#include "common/wire/wire.h"

#define LOCAL "local pid 1 uid 0 at 127.0.0.1:7000"
#define NEAR "tcp 10.1.2.3:9"
#define FAR "tcp 192.0.2.1:9"

static struct exports exports;

static void setup(void)
{
	exports_default(&exports);
}

/* ---- the user of a request ---- */

/* For a client with uid 7, gid 7, and groups 0 and 8. */
static const struct {
	enum squash squash;
	const char *peer;
	uint32_t uid, gid, is_uid, is_gid;
	int ngroups;
	uint32_t group;
} squashes[] = {
	{ SQUASH_NONE, FAR, 0, 0, 0, 0, 2, 0 },
	{ SQUASH_NONE, FAR, 7, 7, 7, 7, 2, 0 },
	{ SQUASH_ROOT, FAR, 0, 0, 42, 43, 0, 0 },
	{ SQUASH_ROOT, FAR, 0, 7, 42, 43, 0, 0 },
	{ SQUASH_ROOT, FAR, 7, 0, 7, 43, 2, 43 },
	{ SQUASH_ROOT, FAR, 7, 7, 7, 7, 2, 43 },
	{ SQUASH_ROOT, LOCAL, 0, 0, 0, 0, 2, 0 },
	{ SQUASH_ROOT, LOCAL, 7, 0, 7, 0, 2, 0 },
	{ SQUASH_ALL, FAR, 0, 0, 42, 43, 0, 0 },
	{ SQUASH_ALL, FAR, 7, 7, 42, 43, 0, 0 },
	{ SQUASH_ALL, LOCAL, 7, 7, 42, 43, 0, 0 },
	{ SQUASH_ALL, LOCAL, 0, 0, 0, 0, 2, 0 },
};
#define SQUASHES ((int)(sizeof(squashes) / sizeof(squashes[0])))

START_TEST(test_squash)
{
	uint32_t groups[] = { 0, 8 };
	struct ns_cred cred = { squashes[_i].uid, squashes[_i].gid, 2, groups };
	struct client_place place;

	exports.squash = squashes[_i].squash;
	exports.uid = 42;
	exports.gid = 43;
	place = exports_place(&exports, squashes[_i].peer);
	exports_squash(&exports, &place, &cred);
	ck_assert_uint_eq(cred.uid, squashes[_i].is_uid);
	ck_assert_uint_eq(cred.gid, squashes[_i].is_gid);
	ck_assert_int_eq((int)cred.ngroups, squashes[_i].ngroups);
	ck_assert_int_eq(ns_in_group(&cred, 0),
			 !cred.gid || (cred.ngroups && !squashes[_i].group));
	ck_assert_int_eq(ns_in_group(&cred, 43),
			 cred.gid == 43 || squashes[_i].group == 43);
	ck_assert_int_eq(ns_in_group(&cred, 8), cred.ngroups > 0);
	ck_assert_uint_eq(groups[0], 0);
}
END_TEST

START_TEST(test_place)
{
	struct client_place place = exports_place(&exports, FAR);

	ck_assert(place.speaks && !place.reads_only && !place.here);
	ck_assert_int_eq(networks_parse("10.0.0.0/8", &exports.read_only), 0);
	ck_assert_int_eq(networks_parse("10.0.0.0/8", &exports.speakers), 0);
	place = exports_place(&exports, FAR);
	ck_assert(!place.speaks && !place.reads_only && !place.here);
	place = exports_place(&exports, NEAR);
	ck_assert(place.speaks && place.reads_only && !place.here);
	ck_assert_int_eq(networks_parse("0.0.0.0/0", &exports.read_only), 0);
	place = exports_place(&exports, LOCAL);
	ck_assert(place.speaks && !place.reads_only && place.here);
}
END_TEST

/* ---- read-only networks ---- */

static int check(unsigned int op, const void *body)
{
	const struct wire_msg msg = { .body = body };
	const struct client_place reads = { .reads_only = true }, may = { 0 };

	ck_assert_int_eq(exports_check(&may, op, &msg), 0);
	return exports_check(&reads, op, &msg);
}

/* Every operation that is not in this list changes something, or may do so. */
START_TEST(test_looks)
{
	static const unsigned int looks[] = {
		WIRE_PING,     WIRE_STATFS,   WIRE_MOUNT,    WIRE_GETATTR,
		WIRE_RELEASE,  WIRE_READLINK, WIRE_READDIR,  WIRE_READDIRPLUS,
		WIRE_LOCK,     WIRE_LOCK_ANY, WIRE_GETXATTR, WIRE_LISTXATTR,
		WIRE_DECLARE,  WIRE_ADOPT,    WIRE_ADOPTED,  WIRE_RENEW,
		WIRE_OPEN,     WIRE_ACCESS,   WIRE_GRANT,    WIRE_REDEEM,
		WIRE_SESSIONS, WIRE_COPYSETS,
	};
	static const uint8_t zeros[WIRE_BODY_MAX];

	for (unsigned int op = 0; op < WIRE_OP_END; op++) {
		bool is = false;

		for (size_t i = 0; i < sizeof(looks) / sizeof(looks[0]); i++)
			is |= looks[i] == op;
		ck_assert_msg(check(op, zeros) == (is ? 0 : -EROFS), "%s",
			      wire_op_name(op));
	}
}
END_TEST

/* Each flag alone. */
START_TEST(test_flags)
{
	static const uint32_t changes[] = { WIRE_O_WRITE, WIRE_O_CREAT,
					    WIRE_O_TRUNC };
	struct wire_open open = { .flags = htole32(WIRE_O_READ) };
	struct wire_grant grant = { .flags = htole32(WIRE_O_READ) };
	struct wire_redeem redeem = { .flags = htole32(WIRE_O_READ) };
	struct wire_access access = { .mask = htole32(R_OK | X_OK) };

	ck_assert_int_eq(check(WIRE_OPEN, &open), 0);
	ck_assert_int_eq(check(WIRE_GRANT, &grant), 0);
	ck_assert_int_eq(check(WIRE_REDEEM, &redeem), 0);
	ck_assert_int_eq(check(WIRE_ACCESS, &access), 0);
	for (int i = 0; i < 3; i++) {
		open.flags = htole32(WIRE_O_READ | changes[i]);
		ck_assert_int_eq(check(WIRE_OPEN, &open), -EROFS);
	}
	grant.flags = redeem.flags = htole32(WIRE_O_READ | WIRE_O_WRITE);
	access.mask = htole32(R_OK | W_OK);
	ck_assert_int_eq(check(WIRE_GRANT, &grant), -EROFS);
	ck_assert_int_eq(check(WIRE_REDEEM, &redeem), -EROFS);
	ck_assert_int_eq(check(WIRE_ACCESS, &access), -EROFS);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("mgr_exports");
	TCase *tc = tcase_create("mgr_exports");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_loop_test(tc, test_squash, 0, SQUASHES);
	tcase_add_test(tc, test_place);
	tcase_add_test(tc, test_looks);
	tcase_add_test(tc, test_flags);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
