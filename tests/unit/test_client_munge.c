/* SPDX-License-Identifier: BSD-2-Clause */
/* test_client_munge.c - a client with auth=munge: its messages, and the servers that it accepts. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "client/lib/auth/client_auth.h"
#include "common/util/clock.h"
#include "tests/unit/fake_munge.h"
#include "tests/unit/key_rig.h"
#include "common/munge/munger.h"
#include "common/trust/auth_exchange.h"
#include "tests/run_suite.h"
#include "common/util/sealer.h"
#include "common/trust/sealing.h"
#include "common/trust/ticket.h"

#define SERVER 4711u

static struct key_rig rig;
static struct keyring *ring;
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
static struct munger *munger;

/* Builds the manager's part of the exchange, and its reply. */
static void answer_challenge(void)
{
	ck_assert_int_eq(ops->begin(auth, &challenge), 0);
	ck_assert_int_eq(key_pair_make(&server), 0);
	exchange = (struct auth_exchange){
		1, 2, 3, 4, AUTH_MUNGE, false, { { 0 } }, { { 0 }, { 7 } }
	};
	memcpy(exchange.key[0], challenge.key, WIRE_KEY_LEN);
	memcpy(exchange.nonce[0], challenge.nonce, WIRE_KEY_LEN);
	memcpy(exchange.key[1], server.public, WIRE_KEY_LEN);
	rep = (struct wire_challenge_rep){ .fsid = htole64(1),
					   .mode = htole32(AUTH_MUNGE) };
	memcpy(rep.key, exchange.key[1], WIRE_KEY_LEN);
	memcpy(rep.nonce, exchange.nonce[1], WIRE_KEY_LEN);
	way = (struct client_auth_way){ .session = 2,
					.boot = 3,
					.epoch = 4,
					.peer = "mgr",
					.deadline = clock_after_ms(60000) };
}

static void setup(void)
{
	struct client_auth_attr attr = { .mode = AUTH_MUNGE,
					 .key = "",
					 .munge_socket = "",
					 .server_uid = SERVER,
					 .where = "tab:1",
					 .log = &nowhere };

	fake_munge_go();
	fake_munge_says(MUNGE_OK, 1000);
	key_rig_open(&rig);
	ring = key_rig_ring(&rig, KEY_A "\n");
	ops = pvfs_client_auth_3();
	ck_assert_int_eq(ops->open(&attr, &auth), 0);
	ck_assert_int_eq(munger_open("", 1, &nowhere, &munger), 0);
	answer_challenge();
}

static void teardown(void)
{
	fake_munge_go();
	munger_put(munger);
	ops->close(auth);
	keyring_close(ring);
	key_rig_close(&rig);
	while (fake_munge_contexts())
		usleep(1000);
}

static int say(void)
{
	return ops->word(auth, &way, &rep, &body, word);
}

/* Returns true if the credential contains the expected values of this exchange. */
static bool about(const struct auth_exchange *p)
{
	struct munger_word got;
	uint8_t digest[AUTH_EXCHANGE_LEN];

	ck_assert_int_eq(munger_decode(munger, word, le32toh(body.len),
				       way.deadline, &got),
			 0);
	ck_assert_uint_eq(got.uid, 1000);
	auth_exchange_caller(p, digest);
	return got.len == AUTH_EXCHANGE_LEN &&
	       !memcmp(got.payload, digest, AUTH_EXCHANGE_LEN);
}

START_TEST(test_bound)
{
	uint8_t *const parts[] = {
		(uint8_t *)&exchange.fsid, (uint8_t *)&exchange.session,
		(uint8_t *)&exchange.boot, (uint8_t *)&exchange.epoch,
		(uint8_t *)&exchange.mode, exchange.key[0],
		exchange.key[1],	   exchange.nonce[0],
		exchange.nonce[1],
	};

	ck_assert_int_eq(say(), 0);
	ck_assert_uint_eq(le32toh(body.kind), AUTH_MUNGE);
	ck_assert(about(&exchange));
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		*parts[i] ^= 1;
		ck_assert(!about(&exchange));
		*parts[i] ^= 1;
	}
	ck_assert(about(&exchange));
}
END_TEST

/* The client believes only a manager on its host that the kernel's identity is enough. */
START_TEST(test_kernel)
{
	rep.flags = htole32(WIRE_CH_KERNEL);
	way.local = _i;
	ck_assert_int_eq(say(), 0);
	ck_assert_uint_eq(le32toh(body.kind), _i ? AUTH_SYS : AUTH_MUNGE);
}
END_TEST

START_TEST(test_downgrade)
{
	rep.mode = htole32(_i & 1 ? AUTH_SYS : AUTH_KEY);
	way.local = _i & 2;
	ck_assert_int_eq(say(), -EKEYREJECTED);
}
END_TEST

START_TEST(test_away)
{
	fake_munge_says(MUNGE_NO_SOCKET, 1000);
	ck_assert_int_eq(say(), -ECOMM);
	fake_munge_says(MUNGE_OK, 1000);
	fake_munge_hold();
	way.deadline = clock_after_ms(30);
	ck_assert_int_eq(say(), -ECOMM);
	way.deadline = clock_after_ms(30);
	ck_assert_int_eq(say(), -ECOMM);
	fake_munge_go();
	way.deadline = clock_after_ms(60000);
	ck_assert_int_eq(say(), 0);
}
END_TEST

/* ---- the reply ---- */

struct reply {
	struct wire_auth_rep rep;
	uint8_t ticket[TICKET_MAX];
	char word[MUNGER_CRED_MAX];
	struct wire_msg msg;
};

/* Builds the reply of a manager that this user runs. */
static void make(struct reply *r, unsigned int uid)
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
	fake_munge_says(MUNGE_OK, uid);
	ck_assert_int_eq(munger_encode(munger, digest, sizeof(digest),
				       way.deadline, r->word),
			 0);
	r->msg = (struct wire_msg){ .body = &r->rep,
				    .tail = { { r->ticket, (size_t)len },
					      { r->word, strlen(r->word) } } };
}

static size_t ticket_now(void)
{
	const struct prover *prover = ops->prover(auth);
	uint8_t ticket[WIRE_TICKET_MAX];

	return prover->ticket(prover->arg, ticket);
}

START_TEST(test_ticket)
{
	const unsigned int who[] = { 0, SERVER, geteuid() };
	uint64_t life = 0;
	struct reply r;

	ck_assert_int_eq(say(), 0);
	make(&r, who[_i]);
	ck_assert_int_eq(ops->end(auth, &r.msg, &life), 0);
	ck_assert_uint_eq(life, 9);
	ck_assert_uint_eq(ticket_now(), r.msg.tail[0].len);
}
END_TEST

/*
 * A reply of another user, with another ticket, with our own credential, without one, and of
 * another cluster.
 */
START_TEST(test_false_manager)
{
	uint64_t life = 7;
	struct reply r;

	ck_assert_int_eq(say(), 0);
	make(&r, _i == 0 ? SERVER + 1 : 0);
	if (_i == 1)
		r.ticket[90] ^= 1;
	if (_i == 2)
		r.msg.tail[1] = (struct wire_tail){ word, le32toh(body.len) };
	if (_i == 3)
		r.msg.tail[1].len = 0;
	if (_i == 4)
		fake_munge_says(MUNGE_INVALID, 0);
	if (_i == 5)
		fake_munge_says(MUNGE_REPLAYED, 0);
	if (_i == 6)
		r.rep.secret[0] ^= 1;
	ck_assert_int_eq(ops->end(auth, &r.msg, &life), -EKEYREJECTED);
	ck_assert_uint_eq(life, 7);
	ck_assert_uint_eq(ticket_now(), 0);
}
END_TEST

START_TEST(test_end_away)
{
	uint64_t life = 7;
	struct reply r;

	ck_assert_int_eq(say(), 0);
	make(&r, 0);
	fake_munge_says(MUNGE_NO_SOCKET, 0);
	ck_assert_int_eq(ops->end(auth, &r.msg, &life), -ECOMM);
	ck_assert_uint_eq(ticket_now(), 0);
}
END_TEST

/* ---- the connection is sealed in place ---- */

static void agree_here(uint32_t uid, bool encrypt)
{
	rep.flags = htole32(WIRE_CH_SEAL | WIRE_CH_SEAL_IN_PLACE |
			    (encrypt ? WIRE_CH_ENCRYPT : 0));
	rep.uid = htole32(uid);
	way.seals = way.seal_in_place = true;
	exchange.seals = true;
	exchange.seal_in_place = encrypt ? SEAL_ENCRYPT : SEAL_AUTH;
	exchange.uid = uid;
}

/* Decodes the credential as the manager does. */
static void read_word(uint8_t key[MAC_KEY_LEN])
{
	struct munger_word got;
	uint8_t digest[AUTH_EXCHANGE_LEN];

	ck_assert_int_eq(munger_decode(munger, word, le32toh(body.len),
				       way.deadline, &got),
			 0);
	auth_exchange_caller(&exchange, digest);
	ck_assert_uint_eq(got.len, AUTH_EXCHANGE_LEN + MAC_KEY_LEN);
	ck_assert_mem_eq(got.payload, digest, AUTH_EXCHANGE_LEN);
	memcpy(key, got.payload + AUTH_EXCHANGE_LEN, MAC_KEY_LEN);
}

/* Builds the reply, and the sealer of the manager. */
static void make_sealer_in_place(struct reply *r,
				 uint8_t digest[AUTH_EXCHANGE_LEN],
				 uint8_t root[MAC_KEY_LEN])
{
	uint8_t key[MAC_KEY_LEN], shared[KEY_PAIR_LEN], secret[MAC_KEY_LEN];
	struct auth_answer answer;

	make(r, 0);
	read_word(key);
	answer = (struct auth_answer){ r->ticket, r->msg.tail[0].len,
				       r->rep.secret };
	auth_exchange_server(&exchange, &answer, digest);
	auth_exchange_word(key, digest, (uint8_t *)r->word);
	r->msg.tail[1].len = MAC_LEN;
	ck_assert_int_eq(
		ticket_secret(ring, r->ticket, r->msg.tail[0].len, secret), 0);
	ck_assert_int_eq(key_pair_secret(&server, challenge.key, shared), 0);
	sealing_root(secret, shared, root);
}

/* Returns whether one end can open what the other one has sealed. */
static bool fit(struct sealer *from, struct sealer *to)
{
	uint8_t record[8 + 4] = "a head; abc", *data = record + 8;
	uint8_t tag[SEALER_TAG_LEN];
	const struct iovec piece = { data, 4 };

	ck_assert_int_eq(from->seal(from, record, 8, &piece, 1, data, tag), 0);
	return !to->open(to, record, 8, data, 4, tag);
}

static void check_keys(const uint8_t root[MAC_KEY_LEN],
		       const uint8_t digest[AUTH_EXCHANGE_LEN], int side,
		       bool changed)
{
	struct seal_in_place in_place = ops->seal_in_place(auth);
	struct transcript transcript = { { { 1 }, { 2 } } },
			  theirs = transcript;
	struct sealer *ours, *other;

	theirs.sum[side][31] ^= changed;
	ck_assert_uint_eq(in_place.mode, exchange.seal_in_place);
	ck_assert_int_eq(in_place.make(in_place.arg, &transcript, &ours), 0);
	ck_assert_int_eq(sealing_in_place(root, digest, &theirs,
					  HANDSHAKE_SERVER,
					  exchange.seal_in_place, &other),
			 0);
	ck_assert(fit(ours, other) == !changed);
	ck_assert(fit(other, ours) == !changed);
	sealer_free(ours);
	sealer_free(other);
	/* only once */
	ck_assert_uint_eq(ops->seal_in_place(auth).mode, SEAL_NONE);
}

/*
 * Only the manager can read the secret.  Both ends derive the same keys; one flipped bit gives
 * others.
 */
START_TEST(test_here)
{
	const uint32_t who[] = { 0, SERVER, geteuid() };
	uint8_t digest[AUTH_EXCHANGE_LEN], root[MAC_KEY_LEN];
	uint64_t life = 0;
	struct reply r;

	agree_here(who[_i % 3], _i & 1);
	ck_assert_int_eq(say(), 0);
	ck_assert_uint_eq(fake_munge_only(), who[_i % 3]);
	ck_assert_uint_eq(fake_munge_cipher(), MUNGE_AES128);
	make_sealer_in_place(&r, digest, root);
	ck_assert_int_eq(ops->end(auth, &r.msg, &life), 0);
	ck_assert_uint_eq(life, 9);
	check_keys(root, digest, _i & 1, _i >= 6);
}
END_TEST

/* The client sends nothing to a manager that runs as another user. */
START_TEST(test_here_false_user)
{
	agree_here(SERVER + 1, false);
	ck_assert_int_eq(say(), -EKEYREJECTED);
	ck_assert_uint_eq(ops->seal_in_place(auth).mode, SEAL_NONE);
}
END_TEST

/*
 * The manager cannot read the credential.  It sends a code made from another secret, ticket, hidden
 * secret, uid or mode, or a credential instead of the code, or nothing.
 */
START_TEST(test_here_false_manager)
{
	uint8_t digest[AUTH_EXCHANGE_LEN], root[MAC_KEY_LEN];
	uint64_t life = 7;
	struct reply r;

	agree_here(0, false);
	ck_assert_int_eq(say(), 0);
	make_sealer_in_place(&r, digest, root);
	switch (_i) {
	case 0:
		auth_exchange_word(root, digest, (uint8_t *)r.word);
		break;
	case 1:
		r.ticket[90] ^= 1;
		break;
	case 2:
		r.rep.secret[0] ^= 1;
		break;
	case 3:
		make(&r, 0);
		break;
	case 4:
		r.msg.tail[1].len = 0;
		break;
	case 5:
		r.msg.tail[1].len--;
		break;
	}
	ck_assert_int_eq(ops->end(auth, &r.msg, &life), -EKEYREJECTED);
	ck_assert_uint_eq(life, 7);
	ck_assert_uint_eq(ticket_now(), 0);
	ck_assert_uint_eq(ops->seal_in_place(auth).mode, SEAL_NONE);
}
END_TEST

/* The manager must have seen what the client sent: a change in transit makes another exchange. */
START_TEST(test_here_bound)
{
	struct munger_word got;
	uint8_t digest[AUTH_EXCHANGE_LEN];

	agree_here(0, false);
	ck_assert_int_eq(say(), 0);
	ck_assert_int_eq(munger_decode(munger, word, le32toh(body.len),
				       way.deadline, &got),
			 0);
	if (_i == 0)
		exchange.seal_in_place = SEAL_ENCRYPT;
	if (_i == 1)
		exchange.seal_in_place = SEAL_NONE;
	if (_i == 2)
		exchange.uid = 1;
	if (_i == 3)
		exchange.seals = false;
	auth_exchange_caller(&exchange, digest);
	ck_assert(memcmp(got.payload, digest, AUTH_EXCHANGE_LEN) != 0);
}
END_TEST

/* If the connection cannot be sealed in place, the client connects again. */
START_TEST(test_not_here)
{
	uint8_t digest[AUTH_EXCHANGE_LEN], root[MAC_KEY_LEN];
	uint64_t life;
	struct reply r;

	agree_here(0, false);
	way.seal_in_place = false;
	ck_assert_int_eq(say(), 0);
	make_sealer_in_place(&r, digest, root);
	ck_assert_int_eq(ops->end(auth, &r.msg, &life), 0);
	ck_assert_uint_eq(ops->seal_in_place(auth).mode, SEAL_NONE);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("client_munge");
	TCase *tc = tcase_create("client_munge");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_bound);
	tcase_add_loop_test(tc, test_kernel, 0, 2);
	tcase_add_loop_test(tc, test_downgrade, 0, 4);
	tcase_add_test(tc, test_away);
	tcase_add_loop_test(tc, test_ticket, 0, 3);
	tcase_add_loop_test(tc, test_false_manager, 0, 7);
	tcase_add_test(tc, test_end_away);
	tcase_add_loop_test(tc, test_here, 0, 12);
	tcase_add_test(tc, test_here_false_user);
	tcase_add_loop_test(tc, test_here_false_manager, 0, 6);
	tcase_add_loop_test(tc, test_here_bound, 0, 4);
	tcase_add_test(tc, test_not_here);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
