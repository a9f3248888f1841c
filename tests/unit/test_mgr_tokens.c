/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_mgr_tokens.c - tokens of GRANT: valid for a client that knows all bytes, for a limited time,
 * and once.
 */
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/run_suite.h"
#include "mgr/session/file_handover.h"

#define MANY 1024u /* maximum number of tokens */

static struct mgr *mgr;
static time_t later; /* seconds that the clock is ahead */

/* Replaces libc's function. */
int clock_gettime(clockid_t clock, struct timespec *ts)
{
	int rc = (int)syscall(SYS_clock_gettime, clock, ts);

	ts->tv_sec += later;
	return rc;
}

static void setup(void)
{
	later = 0;
	mgr = calloc(1, sizeof(*mgr));
	ck_assert_int_eq(tokens_open(mgr), 0);
}

static void teardown(void)
{
	tokens_close(mgr);
	free(mgr);
}

static void add(uint64_t session, uint8_t token[WIRE_TOKEN_LEN])
{
	const struct ns_grant grant = { .session = session };

	ck_assert_int_eq(tokens_add(mgr, &grant, token), 0);
}

/* Returns the session, or 0 if the token is unknown. */
static uint64_t session_of(const uint8_t token[WIRE_TOKEN_LEN])
{
	const struct ns_grant *grant = tokens_find(mgr, token);

	return grant ? grant->session : 0;
}

START_TEST(test_bits)
{
	uint8_t token[WIRE_TOKEN_LEN];

	add(7, token);
	for (unsigned int bit = 0; bit < 8 * WIRE_TOKEN_LEN; bit++) {
		token[bit / 8] ^= (uint8_t)(1u << bit % 8);
		ck_assert_uint_eq(session_of(token), 0);
		token[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	ck_assert_uint_eq(session_of(token), 7);
}
END_TEST

START_TEST(test_spent)
{
	uint8_t token[2][WIRE_TOKEN_LEN];

	add(7, token[0]);
	add(8, token[1]);
	tokens_drop(mgr, tokens_find(mgr, token[0]));
	ck_assert_uint_eq(session_of(token[0]), 0);
	ck_assert_uint_eq(session_of(token[1]), 8);
}
END_TEST

START_TEST(test_late)
{
	uint8_t token[WIRE_TOKEN_LEN];

	add(7, token);
	later = WIRE_TOKEN_S - 5;
	ck_assert_uint_eq(session_of(token), 7);
	later = WIRE_TOKEN_S;
	ck_assert_uint_eq(session_of(token), 0);
}
END_TEST

/* At first there is no token, and later the oldest one is replaced. */
START_TEST(test_many)
{
	static uint8_t token[MANY + 1][WIRE_TOKEN_LEN];

	ck_assert_uint_eq(session_of(token[0]), 0);
	for (unsigned int i = 0; i <= MANY; i++)
		add(i + 1, token[i]);
	ck_assert_uint_eq(session_of(token[0]), 0);
	for (unsigned int i = 1; i <= MANY; i++)
		ck_assert_uint_eq(session_of(token[i]), i + 1);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("mgr_tokens");
	TCase *tc = tcase_create("mgr_tokens");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_bits);
	tcase_add_test(tc, test_spent);
	tcase_add_test(tc, test_late);
	tcase_add_test(tc, test_many);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
