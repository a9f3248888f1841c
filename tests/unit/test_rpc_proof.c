/* SPDX-License-Identifier: BSD-2-Clause */
/* test_rpc_proof.c - servers that prove their identity in HELLO, and others that do not. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/comm/progress/ctx.h"
#include "tests/unit/key_rig.h"
#include "tests/unit/raw_client.h"
#include "tests/run_suite.h"

static struct rig *rig;
static struct key_rig file;
static struct keyring *a, *b, *ab;

static void setup(void)
{
	key_rig_open(&file);
	a = key_rig_ring(&file, KEY_A "\n");
	b = key_rig_ring(&file, KEY_B "\n");
	ab = key_rig_ring(&file, KEY_A "\n" KEY_B "\n");
	rig = calloc(1, sizeof(*rig));
	rig->sattr.role = WIRE_ROLE_IOD;
	rig->sattr.index = 2;
	rig->index = 2;
	rig->role = WIRE_ROLE_MGR;
}

static void teardown(void)
{
	rig_close(rig);
	keyring_close(a);
	keyring_close(b);
	keyring_close(ab);
	key_rig_close(&file);
}

/* Opens both ends with these keys, or NULL. */
static void begin(struct keyring *caller, struct keyring *server)
{
	rig->prover = keyring_prover(caller);
	rig->sattr.prover = keyring_prover(server);
	rig_open(rig, "mock");
}

static int call(void)
{
	uint64_t offset;

	return rig_append_now(rig, 1, &offset, 60000);
}

/* Checks the numbers of rejections by the server and by the caller. */
static void check_refused(unsigned int server, unsigned int caller)
{
	struct rpc_server_stats st;

	rpc_server_stats(rig->server, &st);
	ck_assert_msg(st.impostors == server &&
			      atomic_load(&rig->cctx->impostors) == caller,
		      "%u %u\n%s", (unsigned int)st.impostors,
		      (unsigned int)atomic_load(&rig->cctx->impostors),
		      rig->text);
	ck_assert_uint_eq(rig->opened, 0);
	ck_assert_uint_eq(rig->executed, 0);
}

/* ---- both ends ---- */

START_TEST(test_same_key)
{
	begin(a, a);
	ck_assert_int_eq(call(), 0);
	rig_server_close(rig);
	rig_server_open(rig);
	ck_assert_int_eq(call(), 0);
	ck_assert_uint_eq(atomic_load(&rig->cctx->impostors), 0);
}
END_TEST

START_TEST(test_nobody_has_keys)
{
	begin(NULL, NULL);
	ck_assert_int_eq(call(), 0);
}
END_TEST

START_TEST(test_client_without)
{
	rig->role = WIRE_ROLE_CLIENT;
	begin(NULL, a);
	ck_assert_int_eq(call(), 0);
}
END_TEST

START_TEST(test_two_keys)
{
	begin(_i ? b : ab, _i ? ab : b);
	/* b does not know key a, which ab uses: a proof in one direction is not enough */
	ck_assert_int_eq(call(), -EKEYREJECTED);
}
END_TEST

/* ---- an end without the key ---- */

START_TEST(test_caller_without)
{
	static const enum wire_role roles[] = { WIRE_ROLE_MGR, WIRE_ROLE_IOD };

	rig->role = roles[_i];
	begin(NULL, a);
	ck_assert_int_eq(call(), -EKEYREJECTED);
	check_refused(1, 0);
	ck_assert_uint_eq(rig_logged(rig, _i ? "says that it is an iod: refused"
					     : "says that it is the manager: "
					       "refused"),
			  1);
	ck_assert_uint_eq(rig_logged(rig, "it proves nothing"), 1);
}
END_TEST

START_TEST(test_server_without)
{
	begin(a, NULL);
	ck_assert_int_eq(call(), -EKEYREJECTED);
	check_refused(0, 1);
	ck_assert_uint_eq(rig_logged(rig, "iod 2 (mock"), 1);
	ck_assert_uint_eq(rig_logged(rig, "it proves nothing"), 1);
}
END_TEST

START_TEST(test_another_key)
{
	begin(a, b);
	ck_assert_int_eq(call(), -EKEYREJECTED);
	check_refused(1, 1);
	ck_assert_uint_eq(rig_logged(rig, "its key is not one of those here"),
			  2);
}
END_TEST

/* The keys become equal: the next call succeeds, without a restart. */
START_TEST(test_mended)
{
	begin(a, b);
	ck_assert_int_eq(call(), -EKEYREJECTED);
	key_rig_write(&file, KEY_B "\n");
	ck_assert_int_eq(keyring_reload(a), 0);
	ck_assert_int_eq(call(), 0);
}
END_TEST

/* Another program had the address for a while: the client reconnects without a call. */
START_TEST(test_comes_back)
{
	unsigned int opened;

	begin(a, a);
	ck_assert_int_eq(call(), 0);
	rig_server_close(rig);
	rig->sattr.prover = keyring_prover(b);
	rig_server_open(rig);
	rig_until(rig, atomic_load(&rig->cctx->impostors) > 1);
	opened = rig->opened;
	rig_server_close(rig);
	rig->sattr.prover = keyring_prover(a);
	rig_server_open(rig);
	rig_until(rig, rpc_peer_ready(rig->peer));
	ck_assert_uint_eq(rig->opened, opened + 1);
	ck_assert_uint_eq(rig_logged(rig, "its key is not one of those here: "
					  "give all servers the same file of "
					  "[filesystem] key, and SIGHUP; or"),
			  1);
}
END_TEST

/* Another iod of this file system has the address. */
START_TEST(test_another_index)
{
	rig->index = 3;
	begin(a, a);
	ck_assert_int_eq(call(), -EKEYREJECTED);
	check_refused(1, 1);
	ck_assert_uint_eq(rig_logged(rig, "this is iod 2: correct the address "
					  "in [iod.3]"),
			  1);
}
END_TEST

/* The same without keys, also for a session that the right iod has. */
START_TEST(test_another_unproved)
{
	rig->role = WIRE_ROLE_CLIENT;
	begin(NULL, NULL);
	ck_assert_int_eq(call(), 0);
	rig_server_close(rig);
	rig->sattr.index = 1;
	rig_server_open(rig);
	ck_assert_int_eq(call(), -ENXIO);
	ck_assert_uint_eq(rig_logged(rig, "this is iod 1: correct the address "
					  "in [iod.2]"),
			  1);
	rig_server_close(rig);
	rig->sattr.index = 2;
	rig_server_open(rig);
	ck_assert_int_eq(call(), 0);
	ck_assert_uint_eq(rig->executed, 2);
}
END_TEST

/* At most one line a second is logged, however many connect. */
START_TEST(test_flood)
{
	uint64_t start = clock_now();
	unsigned int i;

	begin(NULL, a);
	for (i = 0; i < 50; i++)
		ck_assert_int_eq(call(), -EKEYREJECTED);
	check_refused(50, 0);
	ck_assert_uint_le(rig_logged(rig, "says that it is the manager"),
			  1 + (clock_now() - start) / 1000000000);
}
END_TEST

/* ---- peers that recorded messages of others ---- */

static void raw_begin(struct raw *raw, uint32_t epoch, uint8_t nonce)
{
	raw_open(raw, rig, 0x77, epoch);
	raw->priv.role = htole16(WIRE_ROLE_MGR);
	raw->hail.features = htole32(WIRE_FT_PROOF);
	raw->hail.nonce[0] = nonce;
	raw_connect(raw);
	raw_until(raw, raw->established);
	ck_assert_uint_eq(le32toh(raw->hailed.features), WIRE_FT_PROOF);
}

static struct handshake shake_of(const struct raw *raw)
{
	struct handshake shake = { .fsid = RIG_FSID,
				   .session = 0x77,
				   .boot = le64toh(raw->answer.boot),
				   .epoch = le32toh(raw->priv.epoch),
				   .role = WIRE_ROLE_MGR,
				   .server = WIRE_ROLE_IOD,
				   .index = 2 };

	memcpy(shake.nonce[0], raw->hail.nonce, WIRE_NONCE_LEN);
	memcpy(shake.nonce[1], raw->hailed.nonce, WIRE_NONCE_LEN);
	return shake;
}

/* Builds a HELLO with room for a proof.  Returns the length before the proof. */
static size_t hello(struct raw *raw)
{
	struct wire_hdr *hdr = raw_hdr(raw);
	size_t len = raw_hello(raw, 0);

	hdr->flags = htole16(WIRE_F_PROOF);
	hdr->len = htole32((uint32_t)(len + sizeof(struct wire_proof)));
	return len;
}

static int answer(struct raw *raw, size_t len, const struct wire_proof *proof)
{
	memcpy((uint8_t *)raw->buf->out + len, proof, sizeof(*proof));
	raw_send(raw, len + sizeof(*proof));
	raw_until(raw, raw->received);
	return -raw_status(raw, 0);
}

static struct wire_proof proved(struct raw *raw, size_t len)
{
	const struct prover *prover = keyring_prover(a);
	struct handshake shake = shake_of(raw);
	struct wire_proof proof;

	ck_assert_int_eq(prover->prove(prover->arg, &shake, HANDSHAKE_CALLER,
				       raw->buf->out, len, &proof),
			 0);
	return proof;
}

static void bye(struct raw *raw)
{
	struct wire_out out;
	int len;

	wire_begin(&out, raw->buf->out, RAW_MSG);
	len = wire_end(&out, WIRE_BYE, 0, 0);
	raw_hdr(raw)->session = raw->priv.session;
	raw_send(raw, (size_t)len);
	raw_until(raw, rig->freed);
}

/*
 * A proof is valid only once.  The session has ended and connects again with the same values; only
 * the server's nonce differs.
 */
START_TEST(test_replay)
{
	uint8_t heard[RAW_MSG];
	struct wire_proof proof;
	struct raw raw;
	size_t len;

	begin(a, a);
	raw_begin(&raw, 1, 9);
	len = hello(&raw);
	proof = proved(&raw, len);
	ck_assert_int_eq(answer(&raw, len, &proof), 0);
	memcpy(heard, raw.buf->out, len + sizeof(proof));
	bye(&raw);
	raw_close(&raw);
	raw_begin(&raw, 1, 9);
	memcpy(raw.buf->out, heard, len);
	ck_assert_int_eq(answer(&raw, len, &proof), -EKEYREJECTED);
	raw_close(&raw);
}
END_TEST

/* A client without a key sends back the server's own proof. */
START_TEST(test_reflection)
{
	const struct wire_hdr *reply;
	struct wire_proof proof = { 0 };
	struct raw raw;

	begin(a, a);
	raw_begin(&raw, 1, 9);
	ck_assert_int_eq(answer(&raw, hello(&raw), &proof), -EKEYREJECTED);
	reply = (const void *)raw.buf->in[0];
	ck_assert_uint_eq(le16toh(reply->flags), WIRE_F_REPLY | WIRE_F_PROOF);
	memcpy(&proof, (const uint8_t *)reply + raw.len - sizeof(proof),
	       sizeof(proof));
	raw_close(&raw);
	raw_begin(&raw, 2, 9);
	ck_assert_int_eq(answer(&raw, hello(&raw), &proof), -EKEYREJECTED);
	raw_close(&raw);
}
END_TEST

/* A client cannot take over the session of a manager. */
START_TEST(test_role)
{
	struct wire_proof proof;
	struct raw raw;
	size_t len;

	begin(a, a);
	raw_begin(&raw, 1, 9);
	len = hello(&raw);
	proof = proved(&raw, len);
	ck_assert_int_eq(answer(&raw, len, &proof), 0);
	raw_close(&raw);
	raw_open(&raw, rig, 0x77, 2);
	raw_connect(&raw);
	raw_until(&raw, raw.established);
	raw_send(&raw, raw_hello(&raw, 0));
	raw_until(&raw, raw.received);
	ck_assert_int_eq(raw_status(&raw, 0), EKEYREJECTED);
	raw_close(&raw);
}
END_TEST

/*
 * A stranger knows the number of a manager's session, and sends no proof or a false one.  The
 * manager is not affected.
 */
START_TEST(test_stranger)
{
	struct raw raw;

	begin(a, a);
	ck_assert_int_eq(call(), 0);
	raw_open(&raw, rig, 0x1111, 0x7fffff00);
	raw.priv.role = htole16(WIRE_ROLE_MGR);
	raw_connect(&raw);
	raw_until(&raw, raw.established);
	if (_i) {
		raw_send(&raw, raw_hello(&raw, 0));
		raw_until(&raw, raw.received);
		ck_assert_int_eq(raw_status(&raw, 0), EKEYREJECTED);
	}
	ck_assert_int_eq(call(), 0);
	ck_assert_uint_eq(rig_logged(rig, "connection lost"), 0);
	raw_close(&raw);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("rpc_proof");
	TCase *tc = tcase_create("rpc_proof");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_same_key);
	tcase_add_test(tc, test_nobody_has_keys);
	tcase_add_test(tc, test_client_without);
	tcase_add_loop_test(tc, test_two_keys, 0, 2);
	tcase_add_loop_test(tc, test_caller_without, 0, 2);
	tcase_add_test(tc, test_server_without);
	tcase_add_test(tc, test_another_key);
	tcase_add_test(tc, test_mended);
	tcase_add_test(tc, test_comes_back);
	tcase_add_test(tc, test_another_index);
	tcase_add_test(tc, test_another_unproved);
	tcase_add_test(tc, test_flood);
	tcase_add_test(tc, test_replay);
	tcase_add_test(tc, test_reflection);
	tcase_add_test(tc, test_role);
	tcase_add_loop_test(tc, test_stranger, 0, 2);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
