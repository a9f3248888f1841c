/* SPDX-License-Identifier: BSD-2-Clause */
/* test_rpc_seal.c - who agrees with whom on sealing a connection, over tcp. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hello_rig.h"
#include "key_rig.h"
#include "raw_client.h"
#include "run_suite.h"
#include "tp_seal.h"

#define SESSION 0x1111u

static struct rig *rig;
static struct key_rig file;
static struct keyring *ring;
static struct pass *pass;
static struct gatehouse house;
static struct doorkeeper keeper;
static struct prover odd; /* a prover that is not quite right */

static const struct bounds bounds = { RIG_FSID, SESSION, 7, 1000 };

static int clock_of(void *arg, uint64_t term, uint64_t *out)
{
	*out = 10;
	return 0;
}

static void setup(void)
{
	key_rig_open(&file);
	ring = key_rig_ring(&file, KEY_A "\n");
	ck_assert_int_eq(pass_new(&pass), 0);
	house = (struct gatehouse){ ring, clock_of, NULL };
	rig = calloc(1, sizeof(*rig));
	rig->session = SESSION;
	rig->sattr.role = WIRE_ROLE_IOD;
	rig->sattr.index = 2;
	rig->index = 2;
	rig->sattr.prover = keyring_prover(ring);
}

static void teardown(void)
{
	rig_close(rig);
	pass_free(pass);
	keyring_close(ring);
	key_rig_close(&file);
}

/* A manager asks; what each end wants at least. */
static void begin_server(enum seal_mode ours, enum seal_mode theirs)
{
	rig->role = WIRE_ROLE_MGR;
	rig->prover = keyring_prover(ring);
	rig->seal = ours;
	rig->sattr.seal = theirs;
	rig_open(rig, "tcp");
}

static void begin_client(enum admission admission, enum seal_mode ours,
			 enum seal_mode theirs)
{
	keeper = gatehouse_keeper(&house, admission);
	rig->prover = pass_prover(pass);
	rig->sattr.keeper = &keeper;
	rig->seal = ours;
	rig->sattr.seal = theirs;
	rig_open(rig, "tcp");
}

static int call(void)
{
	uint64_t offset;

	return rig_append_now(rig, 1, &offset, 60000);
}

static unsigned int bare(void)
{
	struct rpc_server_stats st;

	rpc_server_stats(rig->server, &st);
	return (unsigned int)st.bare;
}

/* What comes of what both want; SEAL_MODES: they part. */
static const struct {
	enum seal_mode ours, theirs, is;
} pairs[] = {
	{ SEAL_NONE, SEAL_NONE, SEAL_NONE },
	{ SEAL_NONE, SEAL_AUTH, SEAL_AUTH },
	{ SEAL_NONE, SEAL_ENCRYPT, SEAL_ENCRYPT },
	{ SEAL_AUTH, SEAL_NONE, SEAL_MODES },
	{ SEAL_AUTH, SEAL_AUTH, SEAL_AUTH },
	{ SEAL_AUTH, SEAL_ENCRYPT, SEAL_ENCRYPT },
	{ SEAL_ENCRYPT, SEAL_NONE, SEAL_MODES },
	{ SEAL_ENCRYPT, SEAL_AUTH, SEAL_ENCRYPT },
	{ SEAL_ENCRYPT, SEAL_ENCRYPT, SEAL_ENCRYPT },
};
#define PAIRS ((int)(sizeof(pairs) / sizeof(pairs[0])))

static void check_pair(int i)
{
	if (pairs[i].is == SEAL_MODES) {
		ck_assert_int_eq(call(), -EKEYREJECTED);
		ck_assert_uint_eq(
			rig_logged(rig, "it does not seal connections, and "
					"here less is not taken"),
			1);
		ck_assert_uint_eq(rig->executed, 0);
		return;
	}
	ck_assert_int_eq(call(), 0);
	ck_assert_int_eq(rpc_peer_seal(rig->peer), pairs[i].is);
	/* anew, with other keys */
	rig_server_close(rig);
	rig_server_open(rig);
	ck_assert_int_eq(call(), 0);
	ck_assert_int_eq(rpc_peer_seal(rig->peer), pairs[i].is);
	ck_assert_uint_eq(bare(), 0);
}

START_TEST(test_servers)
{
	begin_server(pairs[_i].ours, pairs[_i].theirs);
	check_pair(_i);
}
END_TEST

START_TEST(test_clients)
{
	hello_rig_pass(ring, &bounds, pass);
	begin_client(ADMIT_PROVED, pairs[_i].ours, pairs[_i].theirs);
	check_pair(_i);
}
END_TEST

/* Who proves itself and does not seal: of an earlier release, or talked out of it. */
START_TEST(test_does_not)
{
	odd = *keyring_prover(ring);
	odd.pair = NULL;
	rig->role = WIRE_ROLE_MGR;
	rig->prover = &odd;
	rig->sattr.seal = SEAL_AUTH;
	rig_open(rig, "tcp");
	ck_assert_int_eq(call(), -EKEYREJECTED);
	ck_assert_uint_eq(bare(), 1);
	ck_assert_uint_eq(rig->opened, 0);
	ck_assert_uint_eq(rig_logged(rig, "it does not seal the connection"),
			  1);
}
END_TEST

/* Over what cannot be sealed nobody asks for it. */
START_TEST(test_local)
{
	rig->role = WIRE_ROLE_MGR;
	rig->prover = keyring_prover(ring);
	rig->seal = SEAL_ENCRYPT;
	rig->sattr.seal = SEAL_ENCRYPT;
	rig_open(rig, "local");
	ck_assert_int_eq(call(), 0);
	ck_assert_int_eq(rpc_peer_seal(rig->peer), SEAL_NONE);
	ck_assert(!rpc_peer_seals(rig->peer));
}
END_TEST

/* Clients who prove nothing have no keys; servers beside them have. */
START_TEST(test_believed)
{
	begin_client(ADMIT_ALL, SEAL_NONE, SEAL_ENCRYPT);
	ck_assert_int_eq(call(), 0);
	ck_assert_int_eq(rpc_peer_seal(rig->peer), SEAL_NONE);
	ck_assert_uint_eq(bare(), 0);
}
END_TEST

/* A stranger comes bare, and again with its ticket; what it has under way goes on. */
START_TEST(test_stranger)
{
	begin_client(ADMIT_STRANGERS, SEAL_AUTH, SEAL_AUTH);
	ck_assert_int_eq(call(), 0);
	ck_assert_int_eq(rpc_peer_seal(rig->peer), SEAL_NONE);
	hello_rig_pass(ring, &bounds, pass);
	rpc_peer_renew(rig->peer);
	/* its session was nobody's, and this service blessed nobody */
	ck_assert_int_eq(call(), -EPERM);
}
END_TEST

/* Who cannot seal gets nothing over a bare connection, not even a session of nobody. */
START_TEST(test_stranger_cannot)
{
	begin_client(ADMIT_STRANGERS, SEAL_NONE, SEAL_AUTH);
	rpc_peer_close(rig->peer, false);
	odd = *pass_prover(pass);
	odd.pair = NULL;
	rig->prover = _i ? &odd : NULL;
	rig->peer = rig_peer_open(rig);
	ck_assert_int_eq(call(), -EKEYREJECTED);
	ck_assert_uint_eq(bare(), 1);
	ck_assert_uint_eq(rig->opened, 0);
	ck_assert_uint_eq(rig->executed, 0);
	ck_assert_uint_eq(rig_logged(rig, "it does not seal the connection"),
			  1);
}
END_TEST

/* A sealer of other keys than the server's: nothing that is said arrives. */
static int other_seal(void *arg, const struct handshake *shake,
		      enum handshake_side side, const struct seal_pact *pact,
		      struct sealer **sealer)
{
	struct seal_pact changed = *pact;

	changed.mode = SEAL_AUTH;
	return keyring_prover(ring)->seal(arg, shake, side, &changed, sealer);
}

START_TEST(test_other_keys)
{
	uint64_t count[TP_FLAWS];
	uint64_t offset;

	odd = *keyring_prover(ring);
	odd.seal = other_seal;
	rig->role = WIRE_ROLE_MGR;
	rig->prover = &odd;
	rig->sattr.seal = SEAL_ENCRYPT;
	rig_open(rig, "tcp");
	ck_assert_int_eq(rig_append_now(rig, 1, &offset, 500), -ETIMEDOUT);
	ck_assert_uint_eq(rig->executed, 0);
	tp_dev_flaws(rig->dev, count);
	ck_assert_uint_gt(count[TP_FLAW_FALSE], 0);
	/* no storm: the pauses between its tries grow */
	ck_assert_uint_lt(count[TP_FLAW_FALSE], 60);
}
END_TEST

/* ---- behind what both ends believe of each other ---- */

/* A manager's HELLO, as it is proved and sealed, at raw->buf->out.  Its length. */
static size_t hello_of(struct raw *raw, struct seal_pact *pact)
{
	const struct prover *prover = keyring_prover(ring);
	struct handshake shake = { .fsid = RIG_FSID,
				   .session = SESSION,
				   .boot = le64toh(raw->answer.boot),
				   .epoch = 1,
				   .role = WIRE_ROLE_MGR,
				   .server = WIRE_ROLE_IOD,
				   .index = 2 };
	struct wire_hello hello = { .uid = htole32(0) };
	struct wire_seal seal = { .mode = htole32(SEAL_AUTH) };
	struct wire_proof proof;
	struct wire_out out;
	int len;

	memcpy(shake.nonce[0], raw->hail.nonce, WIRE_NONCE_LEN);
	memcpy(shake.nonce[1], raw->hailed.nonce, WIRE_NONCE_LEN);
	memcpy(seal.key, pact->public[HANDSHAKE_CALLER], sizeof(seal.key));
	wire_begin(&out, raw->buf->out, RAW_MSG);
	wire_put(&out, &hello, sizeof(hello));
	wire_put(&out, &seal, sizeof(seal));
	wire_put(&out, NULL, sizeof(proof));
	len = wire_end(&out, WIRE_HELLO, WIRE_F_PROOF | WIRE_F_SEAL, 0);
	ck_assert_int_gt(len, 0);
	raw_hdr(raw)->session = htole64(SESSION);
	ck_assert_int_eq(prover->prove(prover->arg, &shake, HANDSHAKE_CALLER,
				       raw_hdr(raw),
				       (size_t)len - sizeof(proof), &proof),
			 0);
	memcpy((uint8_t *)raw_hdr(raw) + (size_t)len - sizeof(proof), &proof,
	       sizeof(proof));
	return (size_t)len;
}

/*
 * Somebody adds a request, bare, right behind the HELLO of who proves himself: one read has
 * both.
 */
START_TEST(test_behind_hello)
{
	const struct prover *prover = keyring_prover(ring);
	struct seal_pact *pact;
	struct raw raw;
	uint64_t count[TP_FLAWS];
	struct tp_sge sge;
	uint8_t hello[1024];
	size_t len;

	begin_server(SEAL_AUTH, SEAL_AUTH);
	ck_assert_int_eq(prover->pair(prover->arg, HANDSHAKE_CALLER, &pact), 0);
	raw_open(&raw, rig, SESSION, 1);
	raw.priv.role = htole16(WIRE_ROLE_MGR);
	raw.hail = (struct wire_hail){
		htole32(WIRE_FT_V3 | WIRE_FT_PROOF | WIRE_FT_SEAL), { 1 }
	};
	raw_connect(&raw);
	raw_until(&raw, raw.established);
	len = hello_of(&raw, pact);
	memcpy(hello, raw.buf->out, len);
	sge = (struct tp_sge){ raw.buf->in[RAW_RECVS - 1], (uint32_t)len,
			       raw.mr->lkey };
	memcpy(raw.buf->in[RAW_RECVS - 1], hello, len);
	ck_assert_int_eq(tp_post_send(raw.ep,
				      &(struct tp_send_wr){ .opcode = TP_SEND,
							    .sgl = &sge,
							    .nsge = 1 }),
			 0);
	raw_send(&raw, raw_append(&raw, 0, 1));
	raw_until(&raw, raw.disconnected || rig->executed);
	ck_assert_uint_eq(rig->executed, 0);
	tp_dev_flaws(rig->dev, count);
	ck_assert_uint_eq(count[TP_FLAW_BARE], 1);
	prover->unpair(pact);
	raw_close(&raw);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("rpc_seal");
	TCase *tc = tcase_create("rpc_seal");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 0);
	tcase_add_loop_test(tc, test_servers, 0, PAIRS);
	tcase_add_loop_test(tc, test_clients, 0, PAIRS);
	tcase_add_test(tc, test_does_not);
	tcase_add_test(tc, test_local);
	tcase_add_test(tc, test_believed);
	tcase_add_test(tc, test_stranger);
	tcase_add_loop_test(tc, test_stranger_cannot, 0, 2);
	tcase_add_test(tc, test_other_keys);
	tcase_add_test(tc, test_behind_hello);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
