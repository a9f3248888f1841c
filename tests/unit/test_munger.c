/* SPDX-License-Identifier: BSD-2-Clause */
/* test_munger.c - credentials from a munged that is wrong, slow or silent. */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "common/util/clock.h"
#include "tests/unit/fake_munge.h"
#include "common/munge/munger.h"
#include "tests/run_suite.h"

#if __has_include(<munge.h>)
#include <munge.h>
_Static_assert(MUNGE_SET_SOCKET == MUNGE_OPT_SOCKET, "option");
_Static_assert(MUNGE_SET_CIPHER == MUNGE_OPT_CIPHER_TYPE, "option");
_Static_assert(MUNGE_SET_ONLY_UID == MUNGE_OPT_UID_RESTRICTION, "option");
_Static_assert(MUNGE_AES128 == MUNGE_CIPHER_AES128, "cipher");
_Static_assert((int)MUNGE_OK == EMUNGE_SUCCESS, "error");
_Static_assert((int)MUNGE_NO_MEMORY == EMUNGE_NO_MEMORY, "error");
_Static_assert((int)MUNGE_NO_SOCKET == EMUNGE_SOCKET, "error");
_Static_assert((int)MUNGE_BAD_CRED == EMUNGE_BAD_CRED, "error");
_Static_assert((int)MUNGE_BAD_VERSION == EMUNGE_BAD_VERSION, "error");
_Static_assert((int)MUNGE_BAD_CIPHER == EMUNGE_BAD_CIPHER, "error");
_Static_assert((int)MUNGE_BAD_REALM == EMUNGE_BAD_REALM, "error");
_Static_assert((int)MUNGE_INVALID == EMUNGE_CRED_INVALID, "error");
_Static_assert((int)MUNGE_EXPIRED == EMUNGE_CRED_EXPIRED, "error");
_Static_assert((int)MUNGE_REWOUND == EMUNGE_CRED_REWOUND, "error");
_Static_assert((int)MUNGE_REPLAYED == EMUNGE_CRED_REPLAYED, "error");
_Static_assert((int)MUNGE_UNAUTHORIZED == EMUNGE_CRED_UNAUTHORIZED, "error");
#endif

static const struct log nowhere;
static struct munger *munger;
static char cred[MUNGER_CRED_MAX];

static void setup(void)
{
	fake_munge_go();
	fake_munge_says(MUNGE_OK, 7);
	ck_assert_int_eq(munger_open("/run/socket", 2, &nowhere, &munger), 0);
}

/* Pending calls end, and free everything. */
static void teardown(void)
{
	fake_munge_go();
	munger_put(munger);
	while (fake_munge_contexts())
		usleep(1000);
}

static uint64_t later(void)
{
	return clock_after_ms(60000);
}

static int make(uint64_t deadline)
{
	return munger_encode(munger, "payload", 7, deadline, cred);
}

static int look(struct munger_word *word)
{
	return munger_decode(munger, cred, strlen(cred), later(), word);
}

START_TEST(test_word)
{
	struct munger_word word;

	ck_assert_int_eq(make(later()), 0);
	ck_assert_int_eq(look(&word), 0);
	ck_assert_uint_eq(word.uid, 7);
	ck_assert_uint_eq(word.gid, 7);
	ck_assert_uint_eq(word.len, 7);
	ck_assert_mem_eq(word.payload, "payload", 7);
	ck_assert_str_eq(fake_munge_socket(), "/run/socket");
}
END_TEST

START_TEST(test_says)
{
	static const struct {
		int says, rc;
	} want[] = {
		{ 1, -EIO },
		{ MUNGE_NO_MEMORY, -ENOMEM },
		{ MUNGE_NO_SOCKET, -EHOSTDOWN },
		{ MUNGE_BAD_CRED, -EBADMSG },
		{ MUNGE_BAD_VERSION, -EBADMSG },
		{ MUNGE_BAD_CIPHER, -ENOKEY },
		{ MUNGE_BAD_REALM, -ENOKEY },
		{ MUNGE_INVALID, -ENOKEY },
		{ MUNGE_EXPIRED, -ETIME },
		{ MUNGE_REWOUND, -ERANGE },
		{ MUNGE_REPLAYED, -EALREADY },
		{ MUNGE_UNAUTHORIZED, -EACCES },
		{ 99, -EIO },
	};
	struct munger_word word = { .uid = 5 };

	ck_assert_int_eq(make(later()), 0);
	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		fake_munge_says(want[i].says, 7);
		ck_assert_int_eq(look(&word), want[i].rc);
		ck_assert_uint_eq(word.uid, 5);
		ck_assert_uint_gt(strlen(munger_why(want[i].rc)), 0);
	}
	fake_munge_says(MUNGE_NO_SOCKET, 7);
	ck_assert_int_eq(make(later()), -EHOSTDOWN);
}
END_TEST

/* The bytes never reach munged, or contain more than is accepted. */
START_TEST(test_bytes)
{
	char big[MUNGER_CRED_MAX] = { 0 };
	unsigned int before = fake_munge_calls();
	struct munger_word word;
	uint64_t t = later();

	memset(big, '0', sizeof(big));
	ck_assert_int_eq(munger_decode(munger, big, 0, t, &word), -EBADMSG);
	ck_assert_int_eq(munger_decode(munger, big, sizeof(big), t, &word),
			 -EBADMSG);
	ck_assert_int_eq(munger_decode(munger, "MUNGE:1:\0", 9, t, &word),
			 -EBADMSG);
	ck_assert_uint_eq(fake_munge_calls(), before);
	ck_assert_int_eq(munger_decode(munger, "nothing", 7, t, &word),
			 -EBADMSG);
	memcpy(big, "MUNGE:1:", 8);
	ck_assert_int_eq(munger_decode(munger, big, 8 + 2 * MUNGER_PAYLOAD_MAX,
				       t, &word),
			 0);
	ck_assert_int_eq(munger_decode(munger, big, 10 + 2 * MUNGER_PAYLOAD_MAX,
				       t, &word),
			 -EBADMSG);
	ck_assert_int_eq(munger_encode(munger, big, MUNGER_PAYLOAD_MAX + 1, t,
				       cred),
			 -EINVAL);
}
END_TEST

/*
 * However many clients ask, two calls wait in munged, and no client waits longer than its deadline.
 */
START_TEST(test_silent)
{
	struct munger_word word;

	unsigned int before;

	ck_assert_int_eq(make(later()), 0);
	before = fake_munge_calls();
	fake_munge_hold();
	for (int i = 0; i < 5; i++)
		ck_assert_int_eq(make(clock_after_ms(20)), -ETIMEDOUT);
	ck_assert_int_eq(make(clock_now()), -ETIMEDOUT);
	ck_assert_int_eq(make(0), -ETIMEDOUT);
	ck_assert_uint_le(fake_munge_calls(), before + 2);
	fake_munge_go();
	ck_assert_int_eq(look(&word), 0);
}
END_TEST

/* The owner frees it while a call is in flight. */
START_TEST(test_left)
{
	fake_munge_hold();
	ck_assert_int_eq(make(clock_after_ms(20)), -ETIMEDOUT);
	munger_put(munger);
	munger = NULL;
}
END_TEST

static void *many(void *arg)
{
	struct munger *own = arg;
	struct munger_word word;
	char text[MUNGER_CRED_MAX];

	for (int i = 0; i < 50; i++) {
		if (munger_encode(own, &i, sizeof(i), later(), text) ||
		    munger_decode(own, text, strlen(text), later(), &word) ||
		    memcmp(word.payload, &i, sizeof(i)))
			return own;
	}
	munger_put(own);
	return NULL;
}

START_TEST(test_threads)
{
	pthread_t thread[6];
	void *failed;

	for (int i = 0; i < 6; i++)
		ck_assert_int_eq(pthread_create(&thread[i], NULL, many,
						munger_get(munger)),
				 0);
	for (int i = 0; i < 6; i++) {
		pthread_join(thread[i], &failed);
		ck_assert_ptr_null(failed);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("munger");
	TCase *tc = tcase_create("munger");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_word);
	tcase_add_test(tc, test_says);
	tcase_add_test(tc, test_bytes);
	tcase_add_test(tc, test_silent);
	tcase_add_test(tc, test_left);
	tcase_add_test(tc, test_threads);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
