/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mgr_forged.c - a user knows all numbers of another user's session, but has no rights to its
 * files. He sends random requests with these numbers.
 */
#include <check.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/rnd.h"
#include "tests/e2e/mgr/mgrrig.h"
#include "tests/run_suite.h"

#define TIMES 3000u

static struct mgrrig rig;
static struct mgrc admin, owner, stranger;
static struct mgrc_file f; /* open for writing by the owner */
static struct rnd rnd;

static void setup(void)
{
	rig_serve(&rig, "", &admin);
	ck_assert_int_eq(mgrc_make(&admin, "f", 0), 0);
	memset(&owner, 0, sizeof(owner));
	stranger = (struct mgrc){ .cred = { .uid = 1000, .gid = 1000 } };
	mgrc_open(&owner, &rig.addr, 0);
	mgrc_open(&stranger, &rig.addr, 0);
	ck_assert_int_eq(mgrc_open_file(&owner, "f", WIRE_O_WRITE, &f), 0);
	rnd_init(&rnd, 1);
}

static void teardown(void)
{
	mgrc_close(&stranger, true);
	mgrc_close(&owner, true);
	mgrc_close(&admin, true);
	rig_close(&rig);
}

/* Returns a random or a known number, never zero. */
static uint64_t any(void)
{
	const uint64_t known[] = { owner.session,
				   owner.session,
				   admin.session,
				   stranger.session,
				   f.handle,
				   f.open,
				   1,
				   rnd_next(&rnd) | 1 };

	return known[rnd_in(&rnd, 0, 7)];
}

static int say(unsigned int op, const void *body, size_t len)
{
	return mgrc_call(&stranger, op, body, len, NULL, 0);
}

static void sessions(void)
{
	const struct wire_sessions body = { htole64(any()) };

	ck_assert_int_eq(say(WIRE_SESSIONS, &body, sizeof(body)), -EPERM);
}

static void evict(void)
{
	static const char *const text[] = { [WIRE_EV_SESSION] = "",
					    [WIRE_EV_USER] = "",
					    [WIRE_EV_JOB] = "job",
					    [WIRE_EV_HOST] = "0.0.0.0/0" };
	unsigned int by = (unsigned int)rnd_in(&rnd, 0, WIRE_EV_END - 1);
	const struct mgrc_item tail = { text[by], strlen(text[by]) };
	const struct wire_evict body = {
		.session = by == WIRE_EV_SESSION ? htole64(any()) : 0,
		.by = htole32(by),
		.wait_ms = htole32((uint32_t)any()),
		.len = htole32((uint32_t)tail.len),
	};

	ck_assert_int_eq(mgrc_call(&stranger, WIRE_EVICT, &body, sizeof(body),
				   &tail, 1),
			 -EPERM);
}

static void adopt(void)
{
	const struct wire_adopt body = {
		.session = htole64(any()),
		.handle = htole64(f.handle),
		.open = htole64(f.open),
		.owner = htole64(any()),
		.flags = htole32((uint32_t)rnd_in(&rnd, 0, 1)),
	};

	ck_assert_int_lt(say(WIRE_ADOPT, &body, sizeof(body)), 0);
}

static void adopted(void)
{
	const struct wire_adopted body = { htole64(any()) };
	int rc = say(WIRE_ADOPTED, &body, sizeof(body));

	/* an unknown session counts as ended */
	ck_assert(rc == -EPERM || (!rc && body.session != owner.session));
}

static void grant(void)
{
	const struct wire_grant body = { .handle = htole64(f.handle),
					 .open = htole64(any()),
					 .flags = htole32(WIRE_O_WRITE) };

	ck_assert_int_eq(say(WIRE_GRANT, &body, sizeof(body)), -EBADF);
}

static void redeem(void)
{
	struct wire_redeem body = { .flags = htole32(
					    (uint32_t)rnd_in(&rnd, 0, 3)) };
	uint64_t token[2] = { rnd_in(&rnd, 0, 1) ? any() : 0, 0 };

	memcpy(body.token, token, sizeof(body.token));
	ck_assert_int_eq(say(WIRE_REDEEM, &body, sizeof(body)), -ENOENT);
}

/* DECLARE of the owner's file succeeds, but gives no access. */
static void declare(void)
{
	const struct mgrc_file mine = { .handle = f.handle, .open = any() };

	ck_assert_int_eq(mgrc_declare(&stranger, &mine, 1, any() & 1), 0);
}

static void release(void)
{
	const struct mgrc_file his = { .handle = f.handle, .open = any() };

	mgrc_release(&stranger, &his, WIRE_R_WROTE, any() >> 24);
}

static void append(void)
{
	const struct mgrc_file his = { .handle = f.handle, .open = any() };
	uint64_t at;

	ck_assert_int_lt(mgrc_append(&stranger, &his, 10, &at), 0);
}

/* Sends the manager a request that only iods serve. */
static void order(void)
{
	struct {
		struct wire_fence head;
		le64 session;
	} body = { { .n = htole32(1) }, htole64(owner.session) };

	ck_assert_int_lt(say(WIRE_FENCE, &body, sizeof(body)), 0);
}

static void (*const says[])(void) = { sessions, evict,	adopt,	 adopted,
				      grant,	redeem, declare, release,
				      append,	order };

static void owner_lost_nothing(void)
{
	const struct wire_sessions from = { 0 };
	const struct wire_session *row = (const void *)admin.tail;
	struct wire_attr attr;
	bool seen = false;
	uint64_t at;

	ck_assert_int_eq(mgrc_append(&owner, &f, 10, &at), 0);
	ck_assert_uint_eq(at, 0);
	ck_assert_int_eq(mgrc_call(&admin, WIRE_SESSIONS, &from, sizeof(from),
				   NULL, 0),
			 0);
	for (size_t i = 0; i < admin.tail_len / sizeof(*row); i++)
		if (le64toh(row[i].id) == owner.session) {
			seen = true;
			ck_assert_uint_eq(le32toh(row[i].opens), 1);
		}
	ck_assert(seen);
	ck_assert_int_eq(
		mgrc_release(&owner, &f, WIRE_R_WROTE | WIRE_R_MTIME, 10), 0);
	attr = mgrc_stat_ok(&admin, "f");
	ck_assert_uint_eq(le64toh(attr.size), 10);
	ck_assert_uint_eq(owner.fresh, 1);
}

START_TEST(test_says_what_he_likes)
{
	for (unsigned int i = 0; i < TIMES; i++)
		says[rnd_in(&rnd, 0, sizeof(says) / sizeof(says[0]) - 1)]();
	owner_lost_nothing();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("mgr_forged");
	TCase *tc = tcase_create("forged");

	tcase_set_timeout(tc, 240);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_says_what_he_likes);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
