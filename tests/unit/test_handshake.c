/* SPDX-License-Identifier: BSD-2-Clause */
/* test_handshake.c - a proof is valid for one connection, one side and one message. */
#include <errno.h>
#include <string.h>

#include "common/trust/handshake.h"
#include "tests/unit/key_rig.h"
#include "tests/run_suite.h"

static struct key_rig rig;
static struct keyring *ring;
static const struct prover *prover;
static uint8_t msg[100];

static const struct handshake good = {
	.fsid = 1,
	.session = 2,
	.boot = 3,
	.epoch = 4,
	.role = WIRE_ROLE_MGR,
	.server = WIRE_ROLE_IOD,
	.index = 5,
	.nonce = { { 6 }, { 7 } },
};

static void setup(void)
{
	key_rig_open(&rig);
	ring = key_rig_ring(&rig, KEY_A "\n");
	prover = keyring_prover(ring);
	memset(msg, 8, sizeof(msg));
}

static void teardown(void)
{
	keyring_close(ring);
	key_rig_close(&rig);
}

static struct wire_proof proof_of(enum handshake_side side)
{
	struct wire_proof proof = { 0 };

	ck_assert_int_eq(prover->prove(prover->arg, &good, side, msg,
				       sizeof(msg), &proof),
			 0);
	return proof;
}

static int check(const struct handshake *shake, enum handshake_side side,
		 const struct wire_proof *proof)
{
	return prover->check(prover->arg, shake, side, msg, sizeof(msg), proof);
}

START_TEST(test_good)
{
	struct wire_proof proof = proof_of(_i);

	ck_assert_int_eq(check(&good, _i, &proof), 0);
	ck_assert_ptr_null(keyring_prover(NULL));
}
END_TEST

/* The proof is sent back to its sender. */
START_TEST(test_turned_round)
{
	struct wire_proof proof = proof_of(_i);

	ck_assert_int_eq(check(&good, !_i, &proof), -EKEYREJECTED);
}
END_TEST

static void change(struct handshake *shake, int what)
{
	switch (what) {
	case 0:
		shake->fsid++;
		break;
	case 1:
		shake->session++;
		break;
	case 2:
		shake->boot++;
		break;
	case 3:
		shake->epoch++;
		break;
	case 4:
		shake->role = WIRE_ROLE_IOD;
		break;
	case 5:
		shake->server = WIRE_ROLE_MGR;
		break;
	case 6:
		shake->index++;
		break;
	case 7:
		shake->nonce[0][WIRE_NONCE_LEN - 1]++;
		break;
	default:
		shake->nonce[1][WIRE_NONCE_LEN - 1]++;
	}
}

START_TEST(test_another_connection)
{
	struct wire_proof proof = proof_of(HANDSHAKE_CALLER);
	struct handshake other = good;

	change(&other, _i);
	ck_assert_int_eq(check(&other, HANDSHAKE_CALLER, &proof),
			 -EKEYREJECTED);
}
END_TEST

START_TEST(test_message)
{
	struct wire_proof proof = proof_of(HANDSHAKE_SERVER);

	for (unsigned int bit = 0; bit < 8 * sizeof(msg); bit++) {
		msg[bit / 8] ^= (uint8_t)(1u << bit % 8);
		ck_assert_int_eq(check(&good, HANDSHAKE_SERVER, &proof),
				 -EKEYREJECTED);
		msg[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	ck_assert_int_eq(prover->check(prover->arg, &good, HANDSHAKE_SERVER,
				       msg, sizeof(msg) - 1, &proof),
			 -EKEYREJECTED);
}
END_TEST

START_TEST(test_proof)
{
	struct wire_proof proof = proof_of(HANDSHAKE_SERVER);

	for (unsigned int bit = 0; bit < 8 * sizeof(proof.mac); bit++) {
		proof.mac[bit / 8] ^= (uint8_t)(1u << bit % 8);
		ck_assert_int_eq(check(&good, HANDSHAKE_SERVER, &proof),
				 -EKEYREJECTED);
		proof.mac[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	proof.key ^= 1;
	ck_assert_int_eq(check(&good, HANDSHAKE_SERVER, &proof), -ENOKEY);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("handshake");
	TCase *tc = tcase_create("handshake");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, test_good, 0, 2);
	tcase_add_loop_test(tc, test_turned_round, 0, 2);
	tcase_add_loop_test(tc, test_another_connection, 0, 9);
	tcase_add_test(tc, test_message);
	tcase_add_test(tc, test_proof);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
