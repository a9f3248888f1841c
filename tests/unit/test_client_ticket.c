/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_client_ticket.c - tickets in HELLO: whose they are, at which server, and how long they are
 * valid.
 */
#include <errno.h>
#include <string.h>

#include "tests/unit/hello_rig.h"
#include "tests/unit/key_rig.h"
#include "tests/run_suite.h"

static struct key_rig rig;
static struct keyring *a, *b;
static struct client_ticket *pass;
static struct ticket_verifier house;
static struct ticket_hooks keeper;
static struct hello_rig hello;
static uint64_t now;

static const struct token_limits limits = { 1, 2, 7, 1000 };
static const struct handshake good = {
	.fsid = 1,
	.session = 2,
	.boot = 3,
	.epoch = 4,
	.role = WIRE_ROLE_CLIENT,
	.server = WIRE_ROLE_IOD,
	.index = 5,
	.nonce = { { 6 }, { 7 } },
};

/* The server knows the clocks of terms 7 and 8. */
static int clock_of(void *arg, uint64_t term, uint64_t *out)
{
	if (term != 7 && term != 8)
		return -ESTALE;
	*out = now;
	return 0;
}

static void setup(void)
{
	key_rig_open(&rig);
	a = key_rig_ring(&rig, KEY_A "\n");
	b = key_rig_ring(&rig, KEY_B "\n");
	ck_assert_int_eq(client_ticket_new(&pass), 0);
	house = (struct ticket_verifier){ a, clock_of, NULL };
	keeper = ticket_verifier_hooks(&house, ADMIT_PROVED);
	now = 10;
}

static void teardown(void)
{
	client_ticket_free(pass);
	keyring_close(a);
	keyring_close(b);
	key_rig_close(&rig);
}

static int admit(const struct handshake *shake)
{
	struct admitted who = { .uid = 77 }, before = who;
	int rc = keeper.admit(keeper.arg, shake, &hello.msg, &who);

	if (rc)
		ck_assert_mem_eq(&who, &before, sizeof(who));
	else
		ck_assert_msg(who.uid == 1000 && who.gid == 100 &&
				      who.ngroups == 3 && who.groups[2] == 27,
			      "not who the ticket names");
	return rc;
}

static int try(struct keyring *ring, const struct token_limits *of,
	       const struct handshake *shake)
{
	hello_rig_pass(ring, of, pass);
	ck_assert_int_eq(
		hello_rig_say(&hello, client_ticket_prover(pass), &good), 0);
	return admit(shake);
}

START_TEST(test_good)
{
	const struct prover *prover = client_ticket_prover(pass);
	uint8_t none[WIRE_TICKET_MAX], msg[64] = { 9 };
	struct wire_proof proof;

	ck_assert_uint_eq(prover->ticket(prover->arg, none), 0);
	ck_assert_int_eq(try(a, &limits, &good), 0);
	/* the server proves itself with the same secret */
	ck_assert_int_eq(keeper.answer(keeper.arg, &good, &hello.msg, msg,
				       sizeof(msg), &proof),
			 0);
	ck_assert_int_eq(prover->check(prover->arg, &good, HANDSHAKE_SERVER,
				       msg, sizeof(msg), &proof),
			 0);
	ck_assert_int_eq(prover->check(prover->arg, &good, HANDSHAKE_CALLER,
				       msg, sizeof(msg), &proof),
			 -EKEYREJECTED);
	ck_assert_int_eq(client_ticket_set(pass, none, sizeof(none) + 1, none),
			 -EMSGSIZE);
}
END_TEST

/* The client gets another ticket between HELLO and its reply. */
START_TEST(test_renewed)
{
	const struct prover *prover = client_ticket_prover(pass);
	struct token_limits later = limits;
	uint8_t msg[64] = { 9 };
	struct wire_proof proof;

	ck_assert_int_eq(try(a, &limits, &good), 0);
	ck_assert_int_eq(keeper.answer(keeper.arg, &good, &hello.msg, msg,
				       sizeof(msg), &proof),
			 0);
	later.expiry++;
	hello_rig_pass(a, &later, pass);
	ck_assert_int_eq(prover->check(prover->arg, &good, HANDSHAKE_SERVER,
				       msg, sizeof(msg), &proof),
			 0);
	/* the old one is not valid for ever */
	later.expiry++;
	hello_rig_pass(a, &later, pass);
	ck_assert_int_eq(prover->check(prover->arg, &good, HANDSHAKE_SERVER,
				       msg, sizeof(msg), &proof),
			 -EKEYREJECTED);
}
END_TEST

START_TEST(test_whose)
{
	struct token_limits other = limits;

	ck_assert_int_eq(try(b, &limits, &good), -ENOKEY);
	other.fsid++;
	ck_assert_int_eq(try(a, &other, &good), -EKEYREJECTED);
	other = limits;
	other.session++;
	ck_assert_int_eq(try(a, &other, &good), -EKEYREJECTED);
}
END_TEST

START_TEST(test_how_long)
{
	struct token_limits other = limits;

	other.term = 8;
	ck_assert_int_eq(try(a, &other, &good), 0);
	other.term = 6;
	ck_assert_int_eq(try(a, &other, &good), -ESTALE);
	now = 999;
	ck_assert_int_eq(try(a, &limits, &good), 0);
	now = 1000;
	ck_assert_int_eq(try(a, &limits, &good), -EKEYEXPIRED);
}
END_TEST

/* A recorded HELLO is repeated on another connection, and at another server. */
START_TEST(test_overheard)
{
	struct handshake other = good;

	switch (_i) {
	case 0:
		other.epoch++;
		break;
	case 1:
		other.index++;
		break;
	case 2:
		other.server = WIRE_ROLE_MGR;
		break;
	case 3:
		other.boot++;
		break;
	case 4:
		other.nonce[HANDSHAKE_SERVER][3]++;
		break;
	default:
		other.role = WIRE_ROLE_MGR;
	}
	ck_assert_int_eq(try(a, &limits, &other), -EKEYREJECTED);
}
END_TEST

/* A peer that has seen a ticket does not know its secret. */
START_TEST(test_without_secret)
{
	uint8_t ticket[TICKET_MAX], secret[MAC_KEY_LEN] = { 5 };
	size_t len = hello_rig_ticket(a, &limits, ticket);

	ck_assert_int_eq(client_ticket_set(pass, ticket, len, secret), 0);
	ck_assert_int_eq(
		hello_rig_say(&hello, client_ticket_prover(pass), &good), 0);
	ck_assert_int_eq(admit(&good), -EKEYREJECTED);
}
END_TEST

/* With any flipped bit in the message, nobody is accepted as another user. */
START_TEST(test_changed)
{
	struct wire_msg msg;

	ck_assert_int_eq(try(a, &limits, &good), 0);
	for (size_t bit = 0; bit < 8 * hello.len; bit++) {
		((uint8_t *)hello.buf)[bit / 8] ^= (uint8_t)(1u << bit % 8);
		if (!wire_parse(hello.buf, hello.len, &msg, NULL) &&
		    msg.ticket) {
			hello.msg = msg;
			/* the name of the key in the proof is not used */
			if (bit / 8 < hello.len - sizeof(struct wire_proof) ||
			    bit / 8 >= hello.len - MAC_LEN)
				ck_assert_int_ne(admit(&good), 0);
		}
		((uint8_t *)hello.buf)[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("client_ticket");
	TCase *tc = tcase_create("client_ticket");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_good);
	tcase_add_test(tc, test_renewed);
	tcase_add_test(tc, test_whose);
	tcase_add_test(tc, test_how_long);
	tcase_add_loop_test(tc, test_overheard, 0, 6);
	tcase_add_test(tc, test_without_secret);
	tcase_add_test(tc, test_changed);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
