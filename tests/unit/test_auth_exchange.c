/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_auth_exchange.c - the exchange AUTH, in which a client gets its ticket: the proofs of both
 * ends, the X25519 secret, and how the ticket's secret is hidden.
 */
#include <errno.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/key_rig.h"
#include "common/trust/auth_exchange.h"
#include "tests/run_suite.h"

static struct key_rig rig;
static struct keyring *ring, *other;
static struct auth_exchange good;
static struct key_pair client, server;

static void setup(void)
{
	key_rig_open(&rig);
	ring = key_rig_ring(&rig, KEY_A "\n");
	other = key_rig_ring(&rig, KEY_B "\n");
	ck_assert_int_eq(key_pair_make(&client), 0);
	ck_assert_int_eq(key_pair_make(&server), 0);
	good = (struct auth_exchange){ 1, 2,	 3,	    4,
				       1, false, { { 0 } }, { { 6 }, { 7 } } };
	memcpy(good.key[HANDSHAKE_CALLER], client.public, WIRE_KEY_LEN);
	memcpy(good.key[HANDSHAKE_SERVER], server.public, WIRE_KEY_LEN);
}

static void teardown(void)
{
	keyring_close(ring);
	keyring_close(other);
	key_rig_close(&rig);
}

/* RFC 7748, 6.1 */
START_TEST(test_known_answer)
{
	static const struct key_pair alice = {
		.own = { 0x77, 0x07, 0x6d, 0x0a, 0x73, 0x18, 0xa5, 0x7d,
			 0x3c, 0x16, 0xc1, 0x72, 0x51, 0xb2, 0x66, 0x45,
			 0xdf, 0x4c, 0x2f, 0x87, 0xeb, 0xc0, 0x99, 0x2a,
			 0xb1, 0x77, 0xfb, 0xa5, 0x1d, 0xb9, 0x2c, 0x2a },
	};
	static const uint8_t bob[] = { 0xde, 0x9e, 0xdb, 0x7d, 0x7b, 0x7d, 0xc1,
				       0xb4, 0xd3, 0x5b, 0x61, 0xc2, 0xec, 0xe4,
				       0x35, 0x37, 0x3f, 0x83, 0x43, 0xc8, 0x5b,
				       0x78, 0x67, 0x4d, 0xad, 0xfc, 0x7e, 0x14,
				       0x6f, 0x88, 0x2b, 0x4f };
	static const uint8_t want[] = { 0x4a, 0x5d, 0x9d, 0x5b, 0xa4, 0xce,
					0x2d, 0xe1, 0x72, 0x8e, 0x3b, 0xf4,
					0x80, 0x35, 0x0f, 0x25, 0xe0, 0x7e,
					0x21, 0xc9, 0x47, 0xd1, 0x9e, 0x33,
					0x76, 0xf0, 0x9b, 0x3c, 0x1e, 0x16,
					0x17, 0x42 };
	uint8_t have[KEY_PAIR_LEN];

	ck_assert_int_eq(key_pair_secret(&alice, bob, have), 0);
	ck_assert_mem_eq(have, want, sizeof(want));
}
END_TEST

START_TEST(test_exchange)
{
	uint8_t a[KEY_PAIR_LEN], b[KEY_PAIR_LEN];

	ck_assert_int_eq(key_pair_secret(&client, server.public, a), 0);
	ck_assert_int_eq(key_pair_secret(&server, client.public, b), 0);
	ck_assert_mem_eq(a, b, sizeof(a));
	ck_assert_mem_ne(client.public, server.public, KEY_PAIR_LEN);
}
END_TEST

/*
 * With a key of small order, the secret would be the same for every other key: such keys give zero.
 */
START_TEST(test_small_order)
{
	static const char *const keys[] = {
		"0000000000000000000000000000000000000000000000000000000000000000",
		"0100000000000000000000000000000000000000000000000000000000000000",
		"e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
		"5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
		/* p - 1, p, p + 1; the highest bit is ignored */
		"ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
		"edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
		"eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
		"0000000000000000000000000000000000000000000000000000000000000080",
		"edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
	};
	uint8_t key[KEY_PAIR_LEN], out[KEY_PAIR_LEN], before[KEY_PAIR_LEN];

	memset(out, 9, sizeof(out));
	memcpy(before, out, sizeof(out));
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		for (unsigned int k = 0; k < KEY_PAIR_LEN; k++)
			ck_assert_int_eq(
				sscanf(keys[i] + 2 * k, "%2hhx", &key[k]), 1);
		ck_assert_int_eq(key_pair_secret(&client, key, out), -EINVAL);
		ck_assert_mem_eq(out, before, sizeof(out));
	}
}
END_TEST

/* The two ends may use different libraries. */
START_TEST(test_other_library)
{
	for (int round = 0; round < 50; round++) {
		EVP_PKEY *own = EVP_PKEY_Q_keygen(NULL, NULL, "X25519");
		EVP_PKEY *peer = EVP_PKEY_new_raw_public_key(
			EVP_PKEY_X25519, NULL, client.public, KEY_PAIR_LEN);
		EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new(own, NULL);
		uint8_t public[KEY_PAIR_LEN], a[KEY_PAIR_LEN], b[KEY_PAIR_LEN];
		size_t len = sizeof(public);

		ck_assert_int_gt(EVP_PKEY_get_raw_public_key(own, public, &len),
				 0);
		ck_assert_int_gt(EVP_PKEY_derive_init(ctx), 0);
		ck_assert_int_gt(EVP_PKEY_derive_set_peer(ctx, peer), 0);
		ck_assert_int_gt(EVP_PKEY_derive(ctx, a, &len), 0);
		ck_assert_int_eq(key_pair_secret(&client, public, b), 0);
		ck_assert_mem_eq(a, b, sizeof(a));
		EVP_PKEY_CTX_free(ctx);
		EVP_PKEY_free(peer);
		EVP_PKEY_free(own);
		ck_assert_int_eq(key_pair_make(&client), 0);
	}
}
END_TEST

static void change(struct auth_exchange *exchange, int what)
{
	uint64_t *const wide[] = { &exchange->fsid, &exchange->session,
				   &exchange->boot };
	uint32_t *const narrow[] = { &exchange->epoch, &exchange->mode };

	if (what < 3)
		(*wide[what])++;
	else if (what < 5)
		(*narrow[what - 3])++;
	else if (what < 7)
		exchange->key[what - 5][31]++;
	else
		exchange->nonce[what - 7][31]++;
}
#define CHANGES 9

static int both(const struct auth_exchange *signs,
		const struct auth_exchange *checks, enum handshake_side by,
		enum handshake_side of)
{
	uint8_t digest[AUTH_EXCHANGE_LEN];
	struct wire_proof word;

	auth_exchange_caller(signs, digest);
	auth_exchange_sign(ring, by, digest, &word);
	auth_exchange_caller(checks, digest);
	return auth_exchange_check(ring, of, digest, &word, sizeof(word));
}

START_TEST(test_words)
{
	struct auth_exchange bad = good;

	ck_assert_int_eq(both(&good, &good, _i, _i), 0);
	ck_assert_int_eq(both(&good, &good, _i, !_i), -EKEYREJECTED);
	for (int i = 0; i < CHANGES; i++) {
		bad = good;
		change(&bad, i);
		ck_assert_int_eq(both(&good, &bad, _i, _i), -EKEYREJECTED);
	}
}
END_TEST

START_TEST(test_bad_words)
{
	uint8_t digest[AUTH_EXCHANGE_LEN];
	struct wire_proof word;

	auth_exchange_caller(&good, digest);
	auth_exchange_sign(ring, HANDSHAKE_CALLER, digest, &word);
	ck_assert_int_eq(auth_exchange_check(other, HANDSHAKE_CALLER, digest,
					     &word, sizeof(word)),
			 -ENOKEY);
	for (size_t len = 0; len < sizeof(word); len++)
		ck_assert_int_eq(auth_exchange_check(ring, HANDSHAKE_CALLER,
						     digest, &word, len),
				 -EBADMSG);
	for (unsigned int bit = 0; bit < 8 * sizeof(word); bit++) {
		((uint8_t *)&word)[bit / 8] ^= (uint8_t)(1u << bit % 8);
		ck_assert_int_ne(auth_exchange_check(ring, HANDSHAKE_CALLER,
						     digest, &word,
						     sizeof(word)),
				 0);
		((uint8_t *)&word)[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
}
END_TEST

/* The code of the manager also covers the ticket. */
START_TEST(test_answer)
{
	uint8_t ticket[100] = { 1 }, secret[WIRE_KEY_LEN] = { 2 };
	struct auth_answer answer = { ticket, sizeof(ticket), secret };
	uint8_t digest[AUTH_EXCHANGE_LEN], now[AUTH_EXCHANGE_LEN];

	auth_exchange_server(&good, &answer, digest);
	ticket[99]++;
	auth_exchange_server(&good, &answer, now);
	ck_assert_mem_ne(digest, now, AUTH_EXCHANGE_LEN);
	ticket[99]--;
	secret[31]++;
	auth_exchange_server(&good, &answer, now);
	ck_assert_mem_ne(digest, now, AUTH_EXCHANGE_LEN);
	auth_exchange_caller(&good, now);
	ck_assert_mem_ne(digest, now, AUTH_EXCHANGE_LEN);
}
END_TEST

START_TEST(test_hidden)
{
	uint8_t a[KEY_PAIR_LEN], secret[MAC_KEY_LEN] = { 1, 2, 3 };
	uint8_t hidden[MAC_KEY_LEN], found[MAC_KEY_LEN];
	struct auth_exchange bad;

	ck_assert_int_eq(key_pair_secret(&client, server.public, a), 0);
	auth_exchange_hide(&good, a, secret, hidden);
	ck_assert_mem_ne(hidden, secret, sizeof(secret));
	auth_exchange_hide(&good, a, hidden, found);
	ck_assert_mem_eq(found, secret, sizeof(secret));
	for (int i = 0; i < CHANGES; i++) {
		bad = good;
		change(&bad, i);
		auth_exchange_hide(&bad, a, hidden, found);
		ck_assert_mem_ne(found, secret, sizeof(secret));
	}
	a[0] ^= 1;
	auth_exchange_hide(&good, a, hidden, found);
	ck_assert_mem_ne(found, secret, sizeof(secret));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("auth_exchange");
	TCase *tc = tcase_create("auth_exchange");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_known_answer);
	tcase_add_test(tc, test_exchange);
	tcase_add_test(tc, test_small_order);
	tcase_add_test(tc, test_other_library);
	tcase_add_loop_test(tc, test_words, 0, 2);
	tcase_add_test(tc, test_bad_words);
	tcase_add_test(tc, test_answer);
	tcase_add_test(tc, test_hidden);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
