/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_ticket.c - tickets and capabilities, compared with a model.  A sealed one opens with the
 * same content, where and as long as it is valid.  Nothing else can be opened.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "common/trust/capability.h"
#include "tests/unit/key_rig.h"
#include "tests/unit/rnd.h"
#include "tests/run_suite.h"
#include "common/trust/ticket.h"

#define ROUNDS 3000

static struct key_rig rig;
static struct keyring *ring;
static struct rnd rnd;

static void setup(void)
{
	key_rig_open(&rig);
	ring = key_rig_ring(&rig, KEY_A "\n");
	rnd_init(&rnd, 7);
}

static void teardown(void)
{
	keyring_close(ring);
	key_rig_close(&rig);
}

/* Few different values, so that they are often equal. */
static struct token_limits random_bounds(void)
{
	return (struct token_limits){ rnd_in(&rnd, 1, 2), rnd_in(&rnd, 1, 3),
				      rnd_in(&rnd, 1, 5), rnd_in(&rnd, 0, 10) };
}

static struct token_context random_here(void)
{
	uint64_t oldest = rnd_in(&rnd, 1, 5);

	return (struct token_context){ rnd_in(&rnd, 1, 2), rnd_in(&rnd, 1, 3),
				       oldest, rnd_in(&rnd, oldest, 5),
				       rnd_in(&rnd, 0, 10) };
}

static bool holds(const struct token_limits *b, const struct token_context *h)
{
	return b->fsid == h->fsid && b->session == h->session &&
	       b->term >= h->oldest && b->term <= h->newest &&
	       b->expiry > h->now;
}

static struct token_context here_of(const struct token_limits *b)
{
	return (struct token_context){ b->fsid, b->session, b->term, b->term,
				       b->expiry - 1 };
}

static void random_ticket(struct ticket *t)
{
	memset(t, 0, sizeof(*t));
	t->limits = random_bounds();
	t->uid = (uint32_t)rnd_next(&rnd);
	t->gid = (uint32_t)rnd_next(&rnd);
	t->ngroups = (uint32_t)rnd_in(&rnd, 0, WIRE_GROUPS_MAX);
	for (uint32_t i = 0; i < t->ngroups; i++)
		t->groups[i] = (uint32_t)rnd_next(&rnd);
	for (unsigned int i = 0; i < TICKET_CLIENT_LEN; i++)
		t->client[i] = (uint8_t)rnd_next(&rnd);
}

static struct capability random_cap(void)
{
	return (struct capability){ random_bounds(), rnd_next(&rnd) | 1,
				    (uint32_t)rnd_in(&rnd, 1, 3) };
}

/* ---- where and when they are valid ---- */

START_TEST(test_tickets)
{
	for (int i = 0; i < ROUNDS; i++) {
		struct token_context here = random_here();
		uint8_t buf[TICKET_MAX];
		struct ticket t, got, before;
		int len, rc;

		random_ticket(&t);
		memset(&got, 0x5a, sizeof(got));
		before = got;
		len = ticket_seal(ring, &t, buf, sizeof(buf));
		ck_assert_int_eq(len, (int)ticket_len(t.ngroups));
		rc = ticket_open(ring, buf, (size_t)len, &here, &got);
		ck_assert_int_eq(!rc, holds(&t.limits, &here));
		ck_assert_mem_eq(&got, rc ? &before : &t, sizeof(got));
	}
}
END_TEST

START_TEST(test_capabilities)
{
	for (int i = 0; i < ROUNDS; i++) {
		struct token_context here = random_here();
		struct capability cap = random_cap(), got = { 0 };
		uint8_t buf[CAPABILITY_LEN];
		int rc;

		ck_assert_int_eq(capability_seal(ring, &cap, buf), 0);
		rc = capability_open(ring, buf, sizeof(buf), &here, &got);
		ck_assert_int_eq(!rc, holds(&cap.limits, &here));
		ck_assert_uint_eq(got.handle, rc ? 0 : cap.handle);
		ck_assert_uint_eq(got.rights, rc ? 0 : cap.rights);
	}
}
END_TEST

/* Each rejection has its reason. */
START_TEST(test_reasons)
{
	const struct token_limits b = { 1, 2, 3, 100 };
	const struct {
		struct token_context here;
		int rc;
	} cases[] = {
		{ { 1, 2, 3, 3, 99 }, 0 },
		{ { 1, 2, 1, 9, 0 }, 0 },
		{ { 2, 2, 3, 3, 99 }, -ENXIO },
		{ { 1, 3, 3, 3, 99 }, -EPERM },
		{ { 1, 2, 4, 9, 99 }, -ESTALE },
		{ { 1, 2, 1, 2, 99 }, -ESTALE },
		{ { 1, 2, 3, 3, 100 }, -EKEYEXPIRED },
		{ { 1, 2, 3, 3, UINT64_MAX }, -EKEYEXPIRED },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		ck_assert_int_eq(token_limits_check(&b, &cases[i].here),
				 cases[i].rc);
}
END_TEST

/* ---- changed bits ---- */

START_TEST(test_ticket_bits)
{
	uint8_t buf[TICKET_MAX];
	struct token_context here;
	struct ticket t, got;
	int len;

	random_ticket(&t);
	t.ngroups = 5;
	t.limits.expiry = 5;
	here = here_of(&t.limits);
	len = ticket_seal(ring, &t, buf, sizeof(buf));
	for (int bit = 0; bit < 8 * len; bit++) {
		buf[bit / 8] ^= (uint8_t)(1u << bit % 8);
		ck_assert_int_lt(
			ticket_open(ring, buf, (size_t)len, &here, &got), 0);
		buf[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	ck_assert_int_eq(ticket_open(ring, buf, (size_t)len, &here, &got), 0);
}
END_TEST

START_TEST(test_capability_bits)
{
	struct capability cap = random_cap(), got;
	uint8_t buf[CAPABILITY_LEN];
	struct token_context here;

	cap.limits.expiry = 5;
	here = here_of(&cap.limits);
	ck_assert_int_eq(capability_seal(ring, &cap, buf), 0);
	for (unsigned int bit = 0; bit < 8 * sizeof(buf); bit++) {
		buf[bit / 8] ^= (uint8_t)(1u << bit % 8);
		ck_assert_int_lt(capability_open(ring, buf, sizeof(buf), &here,
						 &got),
				 0);
		buf[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	ck_assert_int_eq(capability_open(ring, buf, sizeof(buf), &here, &got),
			 0);
}
END_TEST

START_TEST(test_lengths)
{
	uint8_t buf[TICKET_MAX + 1] = { 0 };
	struct token_context here;
	struct capability cap = random_cap(), c;
	struct ticket t, got;
	size_t len;

	random_ticket(&t);
	t.limits.expiry = cap.limits.expiry = 5;
	here = here_of(&t.limits);
	len = (size_t)ticket_seal(ring, &t, buf, sizeof(buf));
	for (size_t n = 0; n <= sizeof(buf); n++)
		ck_assert_int_eq(ticket_open(ring, buf, n, &here, &got),
				 n == len ? 0 : -EBADMSG);
	here = here_of(&cap.limits);
	ck_assert_int_eq(capability_seal(ring, &cap, buf), 0);
	for (size_t n = 0; n <= sizeof(buf); n++)
		ck_assert_int_eq(capability_open(ring, buf, n, &here, &c),
				 n == CAPABILITY_LEN ? 0 : -EBADMSG);
}
END_TEST

/* Tickets and capabilities use the same key, but one is never accepted as the other. */
START_TEST(test_kinds)
{
	struct capability cap = random_cap(), c;
	uint8_t buf[TICKET_MAX] = { 0 };
	struct token_context here;
	struct ticket t;

	cap.limits.expiry = 5;
	here = here_of(&cap.limits);
	ck_assert_int_eq(capability_seal(ring, &cap, buf), 0);
	for (size_t n = 0; n <= sizeof(buf); n++)
		ck_assert_int_lt(ticket_open(ring, buf, n, &here, &t), 0);
	random_ticket(&t);
	ticket_seal(ring, &t, buf, sizeof(buf));
	ck_assert_int_lt(capability_open(ring, buf, CAPABILITY_LEN, &here, &c),
			 0);
}
END_TEST

START_TEST(test_impossible)
{
	struct capability cap = random_cap();
	uint8_t buf[TICKET_MAX];
	struct ticket t;

	cap.handle = 0;
	ck_assert_int_eq(capability_seal(ring, &cap, buf), -EINVAL);
	cap.handle = 1;
	cap.rights = 0;
	ck_assert_int_eq(capability_seal(ring, &cap, buf), -EINVAL);
	cap.rights = 4;
	ck_assert_int_eq(capability_seal(ring, &cap, buf), -EINVAL);
	random_ticket(&t);
	t.ngroups = WIRE_GROUPS_MAX + 1;
	ck_assert_int_eq(ticket_seal(ring, &t, buf, sizeof(buf)), -EINVAL);
	t.ngroups = WIRE_GROUPS_MAX;
	ck_assert_int_eq(ticket_seal(ring, &t, buf, TICKET_MAX - 1), -EMSGSIZE);
	ck_assert_int_eq(ticket_seal(ring, &t, buf, TICKET_MAX), TICKET_MAX);
}
END_TEST

/* ---- keys that change ---- */

static void now(const char *text)
{
	key_rig_write(&rig, text);
	ck_assert_int_eq(keyring_reload(ring), 0);
}

START_TEST(test_change)
{
	struct capability cap = random_cap(), got;
	uint8_t old[CAPABILITY_LEN], new[CAPABILITY_LEN];
	struct token_context here;

	cap.limits.expiry = 5;
	here = here_of(&cap.limits);
	ck_assert_int_eq(capability_seal(ring, &cap, old), 0);
	now(KEY_B "\n" KEY_A "\n");
	ck_assert_int_eq(capability_seal(ring, &cap, new), 0);
	ck_assert_int_eq(capability_open(ring, old, sizeof(old), &here, &got),
			 0);
	now(KEY_B "\n");
	ck_assert_int_eq(capability_open(ring, old, sizeof(old), &here, &got),
			 -ENOKEY);
	ck_assert_int_eq(capability_open(ring, new, sizeof(new), &here, &got),
			 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("ticket");
	TCase *tc = tcase_create("ticket");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_tickets);
	tcase_add_test(tc, test_capabilities);
	tcase_add_test(tc, test_reasons);
	tcase_add_test(tc, test_ticket_bits);
	tcase_add_test(tc, test_capability_bits);
	tcase_add_test(tc, test_lengths);
	tcase_add_test(tc, test_kinds);
	tcase_add_test(tc, test_impossible);
	tcase_add_test(tc, test_change);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
