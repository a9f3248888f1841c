/* SPDX-License-Identifier: BSD-2-Clause */
/* test_client_auth.c - a client whose managers lie about their identity. */
#include <errno.h>
#include <string.h>

#include "client/lib/auth/client_auth.h"
#include "tests/unit/key_rig.h"
#include "common/trust/auth_exchange.h"
#include "tests/run_suite.h"
#include "common/trust/ticket.h"

static struct key_rig rig;
static struct keyring *ring, *other;
static const struct log nowhere;
static const struct client_auth_ops *ops;
static struct client_auth *auth;
static struct wire_challenge challenge;
static struct key_pair server;
static struct auth_exchange exchange;
static struct client_auth_way way;
static struct wire_challenge_rep rep;
static struct wire_auth body;
static uint8_t word[WIRE_WORD_MAX];

/* Builds the manager's part of the exchange, and its reply. */
static void answer_challenge(void)
{
	ck_assert_int_eq(ops->begin(auth, &challenge), 0);
	ck_assert_int_eq(key_pair_make(&server), 0);
	exchange = (struct auth_exchange){
		1, 2, 3, 4, AUTH_KEY, false, { { 0 } }, { { 0 }, { 7 } }
	};
	memcpy(exchange.key[0], challenge.key, WIRE_KEY_LEN);
	memcpy(exchange.nonce[0], challenge.nonce, WIRE_KEY_LEN);
	memcpy(exchange.key[1], server.public, WIRE_KEY_LEN);
	rep = (struct wire_challenge_rep){ .fsid = htole64(1),
					   .mode = htole32(AUTH_KEY) };
	memcpy(rep.key, exchange.key[1], WIRE_KEY_LEN);
	memcpy(rep.nonce, exchange.nonce[1], WIRE_KEY_LEN);
	way = (struct client_auth_way){
		.session = 2, .boot = 3, .epoch = 4, .peer = "mgr"
	};
}

static void setup(void)
{
	struct client_auth_attr attr = { .mode = AUTH_KEY,
					 .key = rig.path,
					 .munge_socket = "",
					 .where = "tab:1",
					 .log = &nowhere };

	key_rig_open(&rig);
	other = key_rig_ring(&rig, KEY_B "\n");
	ring = key_rig_ring(&rig, KEY_A "\n");
	ops = pvfs_client_auth_3();
	ck_assert_int_eq(ops->open(&attr, &auth), 0);
	answer_challenge();
}

static void teardown(void)
{
	ops->close(auth);
	keyring_close(ring);
	keyring_close(other);
	key_rig_close(&rig);
}

static int say(void)
{
	return ops->word(auth, &way, &rep, &body, word);
}

START_TEST(test_word)
{
	uint8_t digest[AUTH_EXCHANGE_LEN];

	ck_assert_int_eq(say(), 0);
	ck_assert_uint_eq(le32toh(body.kind), AUTH_KEY);
	auth_exchange_caller(&exchange, digest);
	ck_assert_int_eq(auth_exchange_check(ring, HANDSHAKE_CALLER, digest,
					     word, le32toh(body.len)),
			 0);
}
END_TEST

/* The client believes only a manager on its host that the kernel's identity is enough. */
START_TEST(test_kernel)
{
	rep.flags = htole32(WIRE_CH_KERNEL);
	way.local = _i;
	ck_assert_int_eq(say(), 0);
	ck_assert_uint_eq(le32toh(body.kind), _i ? AUTH_SYS : AUTH_KEY);
	ck_assert_uint_eq(le32toh(body.len),
			  _i ? 0 : sizeof(struct wire_proof));
}
END_TEST

START_TEST(test_downgrade)
{
	rep.mode = htole32(AUTH_SYS);
	rep.flags = htole32(_i & 1 ? WIRE_CH_KERNEL : 0);
	way.local = _i & 2;
	ck_assert_int_eq(say(), -EKEYREJECTED);
}
END_TEST

START_TEST(test_file_system)
{
	way.fsid = 1;
	ck_assert_int_eq(say(), 0);
	way.fsid = 5;
	ck_assert_int_eq(say(), -ENXIO);
}
END_TEST

/* ---- the reply ---- */

struct reply {
	struct wire_auth_rep rep;
	uint8_t ticket[TICKET_MAX];
	struct wire_proof word;
	struct wire_msg msg;
};

static void make(struct reply *r, struct keyring *signs)
{
	struct ticket t = { .limits = { 1, 2, 3, 1000 }, .uid = 1000 };
	uint8_t shared[KEY_PAIR_LEN], secret[MAC_KEY_LEN],
		digest[AUTH_EXCHANGE_LEN];
	int len = ticket_seal(ring, &t, r->ticket, sizeof(r->ticket));
	struct auth_answer answer = { r->ticket, (size_t)len, r->rep.secret };

	ck_assert_int_gt(len, 0);
	r->rep = (struct wire_auth_rep){ .life = htole64(9) };
	ck_assert_int_eq(ticket_secret(ring, r->ticket, (size_t)len, secret),
			 0);
	ck_assert_int_eq(key_pair_secret(&server, challenge.key, shared), 0);
	auth_exchange_hide(&exchange, shared, secret, r->rep.secret);
	auth_exchange_server(&exchange, &answer, digest);
	auth_exchange_sign(signs, HANDSHAKE_SERVER, digest, &r->word);
	r->msg = (struct wire_msg){ .body = &r->rep,
				    .tail = { { r->ticket, (size_t)len },
					      { &r->word, sizeof(r->word) } } };
}

static size_t ticket_now(void)
{
	const struct prover *prover = ops->prover(auth);
	uint8_t ticket[WIRE_TICKET_MAX];

	return prover->ticket(prover->arg, ticket);
}

START_TEST(test_ticket)
{
	const struct prover *prover;
	uint64_t life = 0;
	struct reply r;

	ck_assert_int_eq(say(), 0);
	make(&r, ring);
	ck_assert_uint_eq(ticket_now(), 0);
	ck_assert_int_eq(ops->end(auth, &r.msg, &life), 0);
	ck_assert_uint_eq(life, 9);
	ck_assert_uint_eq(ticket_now(), r.msg.tail[0].len);
	prover = ops->prover(auth);
	ck_assert_ptr_nonnull(prover->ticket);
}
END_TEST

/*
 * A manager without the key, one that sends the client's own message back, and one that gives
 * another ticket.
 */
START_TEST(test_false_manager)
{
	uint64_t life = 7;
	struct reply r;

	if (_i == 3) {
		/* the client is not on this manager's host */
		rep.flags = htole32(WIRE_CH_KERNEL);
	}
	ck_assert_int_eq(say(), 0);
	make(&r, _i == 0 ? other : ring);
	if (_i == 1)
		memcpy(&r.word, word, sizeof(r.word));
	if (_i == 2)
		r.ticket[90] ^= 1;
	if (_i == 3)
		r.msg.tail[1].len = 0;
	if (_i == 4)
		r.rep.secret[0] ^= 1;
	ck_assert_int_eq(ops->end(auth, &r.msg, &life), -EKEYREJECTED);
	ck_assert_uint_eq(life, 7);
	ck_assert_uint_eq(ticket_now(), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("client_auth");
	TCase *tc = tcase_create("client_auth");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_word);
	tcase_add_loop_test(tc, test_kernel, 0, 2);
	tcase_add_loop_test(tc, test_downgrade, 0, 4);
	tcase_add_test(tc, test_file_system);
	tcase_add_test(tc, test_ticket);
	tcase_add_loop_test(tc, test_false_manager, 0, 5);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
