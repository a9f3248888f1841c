/* SPDX-License-Identifier: BSD-2-Clause */
/* test_rpc_seal.c - whether two ends agree to seal a connection, over tcp. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/hello_rig.h"
#include "tests/unit/key_rig.h"
#include "tests/unit/raw_client.h"
#include "tests/unit/rpc_rig_service.h"
#include "tests/run_suite.h"
#include "common/trust/sealing.h"
#include "common/transport/tp_seal.h"

#define SESSION 0x1111u

static struct rig *rig;
static struct key_rig file;
static struct keyring *ring;
static struct client_ticket *pass;
static struct ticket_verifier house;
static struct ticket_hooks keeper;
static struct prover odd; /* a prover with an error */

static const struct token_limits limits = { RIG_FSID, SESSION, 7, 1000 };

static int clock_of(void *arg, uint64_t term, uint64_t *out)
{
	*out = 10;
	return 0;
}

static void open_ring(void)
{
	key_rig_open(&file);
	ring = key_rig_ring(&file, KEY_A "\n");
}

static void close_ring(void)
{
	keyring_close(ring);
	key_rig_close(&file);
}

static void setup(void)
{
	open_ring();
	ck_assert_int_eq(client_ticket_new(&pass), 0);
	house = (struct ticket_verifier){ ring, clock_of, NULL };
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
	client_ticket_free(pass);
	close_ring();
}

/* A manager connects to a server; both ends have a minimum mode. */
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
	keeper = ticket_verifier_hooks(&house, admission);
	rig->prover = client_ticket_prover(pass);
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

/* The mode that follows from both minimums; SEAL_MODES: the connection ends. */
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
			rig_logged(rig, "it does not seal connections, but "
					"this host requires it"),
			1);
		ck_assert_uint_eq(rig->executed, 0);
		return;
	}
	ck_assert_int_eq(call(), 0);
	ck_assert_int_eq(rpc_peer_seal(rig->peer), pairs[i].is);
	/* again, with other keys */
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
	hello_rig_pass(ring, &limits, pass);
	begin_client(ADMIT_PROVED, pairs[_i].ours, pairs[_i].theirs);
	check_pair(_i);
}
END_TEST

/*
 * A peer proves its identity and does not seal: an earlier release, or a downgrade by an attacker.
 */
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

/* Sealing is not requested over a transport that cannot seal. */
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

/* A client without a proof has no key to seal with, even if the server has one. */
START_TEST(test_believed)
{
	begin_client(ADMIT_ALL, SEAL_NONE, SEAL_ENCRYPT);
	ck_assert_int_eq(call(), 0);
	ck_assert_int_eq(rpc_peer_seal(rig->peer), SEAL_NONE);
	ck_assert_uint_eq(bare(), 0);
}
END_TEST

/* A stranger connects unsealed, and again with its ticket; its calls in flight continue. */
START_TEST(test_stranger)
{
	begin_client(ADMIT_AS_NOBODY, SEAL_AUTH, SEAL_AUTH);
	ck_assert_int_eq(call(), 0);
	ck_assert_int_eq(rpc_peer_seal(rig->peer), SEAL_NONE);
	hello_rig_pass(ring, &limits, pass);
	rpc_peer_reconnect(rig->peer);
	/* the earlier session had no owner, so it gets a new one */
	ck_assert_int_eq(call(), 0);
	ck_assert_int_eq(rpc_peer_seal(rig->peer), SEAL_AUTH);
	ck_assert_uint_eq(rig->opened, 2);
}
END_TEST

/*
 * A client that cannot seal gets nothing over an unsealed connection, not even a session of nobody.
 */
START_TEST(test_stranger_cannot)
{
	begin_client(ADMIT_AS_NOBODY, SEAL_NONE, SEAL_AUTH);
	rpc_peer_close(rig->peer, false);
	odd = *client_ticket_prover(pass);
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

/* A sealer with other keys than the server: nothing can be opened. */
static int other_seal(void *arg, const struct handshake *shake,
		      enum handshake_side side,
		      const struct seal_agreement *agreement,
		      struct sealer **sealer)
{
	struct seal_agreement changed = *agreement;

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
	/* the pauses between its tries grow */
	ck_assert_uint_lt(count[TP_FLAW_FALSE], 60);
}
END_TEST

/* ---- after both ends have agreed to seal ---- */

/*
 * Builds a manager's HELLO with its proof in raw->buf->out and, with an agreement, seals it.
 * Returns its length.
 */
static size_t hello_of(struct raw *raw, struct seal_agreement *agreement,
		       unsigned int flags)
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
	wire_begin(&out, raw->buf->out, RAW_MSG);
	wire_put(&out, &hello, sizeof(hello));
	if (agreement) {
		memcpy(seal.key, agreement->public[HANDSHAKE_CALLER],
		       sizeof(seal.key));
		wire_put(&out, &seal, sizeof(seal));
	}
	wire_put(&out, NULL, sizeof(proof));
	len = wire_end(&out, WIRE_HELLO,
		       flags | WIRE_F_PROOF | (agreement ? WIRE_F_SEAL : 0), 0);
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

static void come_as_manager(struct raw *raw)
{
	raw_open(raw, rig, SESSION, 1);
	raw->priv.role = htole16(WIRE_ROLE_MGR);
	raw->hail = (struct wire_hail){
		htole32(WIRE_FT_V3 | WIRE_FT_PROOF | WIRE_FT_SEAL), { 1 }
	};
	raw_connect(raw);
	raw_until(raw, raw->established);
}

/*
 * A peer that could seal proves its identity without sealing: an attacker told it that the server
 * does not seal.
 */
START_TEST(test_told_not_to)
{
	struct raw raw;

	begin_server(SEAL_AUTH, SEAL_AUTH);
	come_as_manager(&raw);
	raw_send(&raw, hello_of(&raw, NULL, 0));
	raw_until(&raw, raw.received);
	ck_assert_int_eq(raw_status(&raw, 0), EKEYREJECTED);
	ck_assert_uint_eq(bare(), 1);
	ck_assert_uint_eq(rig->opened, 0);
	raw_close(&raw);
}
END_TEST

/*
 * The secret for joining another connection is sent unencrypted, so it is not sent on a sealed
 * connection.
 */
START_TEST(test_nobody_joins)
{
	const enum seal_mode mode = _i ? SEAL_AUTH : SEAL_NONE;
	const struct prover *prover = keyring_prover(ring);
	const struct wire_hdr *hdr;
	struct seal_agreement *agreement = NULL;
	struct raw raw;

	begin_server(mode, mode);
	if (_i)
		ck_assert_int_eq(prover->pair(prover->arg, HANDSHAKE_CALLER,
					      &agreement),
				 0);
	come_as_manager(&raw);
	raw_send(&raw, hello_of(&raw, agreement, WIRE_F_APART));
	raw_until(&raw, raw.received);
	ck_assert_int_eq(raw_status(&raw, 0), 0);
	hdr = (const void *)raw.buf->in[0];
	ck_assert_int_eq(!(le16toh(hdr->flags) & WIRE_F_APART), _i);
	prover_unpair(prover, &agreement);
	raw_close(&raw);
}
END_TEST

/* An attacker adds an unsealed request directly after a valid HELLO: one read gets both. */
START_TEST(test_behind_hello)
{
	const struct prover *prover = keyring_prover(ring);
	struct seal_agreement *agreement;
	struct raw raw;
	uint64_t count[TP_FLAWS];
	struct tp_sge sge;
	uint8_t hello[1024];
	size_t len;

	begin_server(SEAL_AUTH, SEAL_AUTH);
	ck_assert_int_eq(
		prover->pair(prover->arg, HANDSHAKE_CALLER, &agreement), 0);
	come_as_manager(&raw);
	len = hello_of(&raw, agreement, 0);
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
	prover->unpair(agreement);
	raw_close(&raw);
}
END_TEST

/* ---- sealed in place ---- */

static const uint8_t root[MAC_KEY_LEN] = { 1 }, seen[MAC_LEN] = { 2 };
static unsigned int flip; /* 1 + side: the transcript of this side differs */
static struct prover hears;

static int make_here(void *arg, const struct transcript *transcript,
		     struct sealer **sealer)
{
	enum handshake_side side = (enum handshake_side)(uintptr_t)arg;
	struct transcript h = *transcript;

	if (side == HANDSHAKE_CALLER && flip)
		h.sum[flip - 1][0] ^= 1;
	return sealing_in_place(root, seen, &h, side, SEAL_AUTH, sealer);
}

static const struct seal_in_place ours = { SEAL_AUTH, make_here,
					   (void *)HANDSHAKE_CALLER },
				  theirs = { SEAL_AUTH, make_here,
					     (void *)HANDSHAKE_SERVER };

static unsigned int offered; /* rpc_req_seal_in_place() of the first request */

/* The first request proves its sender, and its reply seals; later ones are ordinary. */
static void serve(void *arg, struct rpc_req *req)
{
	const struct admitted who = { 1000, 100 };
	struct wire_append_rep rep = { 0 };

	if (!rpc_req_lacks_seal(req)) {
		rig_service.request(arg, req);
		return;
	}
	offered = rpc_req_seal_in_place(req);
	ck_assert_int_eq(rpc_req_admit(req, &who), 0);
	wire_put(rpc_reply_begin(req), &rep, sizeof(rep));
	rpc_reply_end(req, 0, RPC_REEXECUTE);
	if (offered)
		rpc_reply_send_and_seal(req, &theirs);
	else
		rpc_reply_send(req);
}

static void begin_here(uint32_t features)
{
	offered = 99;
	flip = 0;
	rig->sattr.features = features;
	begin_client(ADMIT_AS_NOBODY, SEAL_AUTH, SEAL_AUTH);
	rig->service.request = serve;
}

START_TEST(test_here)
{
	begin_here(WIRE_FT_SEAL_IN_PLACE);
	ck_assert_int_eq(call(), 0);
	ck_assert_uint_eq(offered, SEAL_AUTH);
	ck_assert(rpc_peer_can_seal_late(rig->peer));
	ck_assert_int_eq(rpc_peer_seal_late(rig->peer, 99, &ours), -ESTALE);
	ck_assert_int_eq(rpc_peer_seal_late(rig->peer,
					    rpc_peer_epoch(rig->peer), &ours),
			 0);
	ck_assert(!rpc_peer_can_seal_late(rig->peer));
	ck_assert_int_eq(rpc_peer_seal(rig->peer), SEAL_AUTH);
	ck_assert_int_eq(call(), 0);
	ck_assert_uint_eq(rig->executed, 1);
	ck_assert_uint_eq(rig->opened, 1);
	ck_assert_uint_eq(rpc_peer_epoch(rig->peer), 1);
	ck_assert_uint_eq(bare(), 0);
}
END_TEST

static uint64_t flaws(enum tp_flaw flaw)
{
	uint64_t count[TP_FLAWS];

	tp_dev_flaws(rig->dev, count);
	return count[flaw];
}

/* A message was changed in either direction: nothing that follows is accepted. */
START_TEST(test_here_changed)
{
	uint64_t offset;

	begin_here(WIRE_FT_SEAL_IN_PLACE);
	ck_assert_int_eq(call(), 0);
	flip = 1 + (unsigned int)_i;
	ck_assert_int_eq(rpc_peer_seal_late(rig->peer,
					    rpc_peer_epoch(rig->peer), &ours),
			 0);
	rig_append_now(rig, 1, &offset, 300);
	ck_assert_uint_eq(rig->executed, 0);
	ck_assert_uint_ge(flaws(TP_FLAW_FALSE), 1);
}
END_TEST

/* Extends the transcript of the client by an additional empty message. */
static void extend_by_more(uint8_t sum[TRANSCRIPT_LEN], const void *msg,
			   size_t len)
{
	transcript_extend(sum, msg, len);
	transcript_extend(sum, "", 0);
}

START_TEST(test_here_hears)
{
	uint64_t offset;

	begin_here(WIRE_FT_SEAL_IN_PLACE);
	rpc_peer_close(rig->peer, false);
	hears = *client_ticket_prover(pass);
	hears.extend_transcript = extend_by_more;
	rig->prover = &hears;
	rig->session++;
	rig->peer = rig_peer_open(rig);
	ck_assert_int_eq(call(), 0);
	ck_assert_int_eq(rpc_peer_seal_late(rig->peer,
					    rpc_peer_epoch(rig->peer), &ours),
			 0);
	rig_append_now(rig, 1, &offset, 300);
	ck_assert_uint_eq(rig->executed, 0);
	ck_assert_uint_ge(flaws(TP_FLAW_FALSE), 1);
}
END_TEST

/* A request is in flight when the reply seals: it is unsealed, and not executed. */
START_TEST(test_here_behind)
{
	struct rig_call first, second;

	begin_here(WIRE_FT_SEAL_IN_PLACE);
	rpc_ctx_hold(rig->cctx);
	rig_append(rig, &first, 1, 60000);
	rig_append(rig, &second, 1, 500);
	rpc_ctx_release(rig->cctx);
	rig_until(rig, second.finished);
	ck_assert_uint_eq(rig->executed, 0);
	ck_assert_uint_ge(flaws(TP_FLAW_BARE), 1);
}
END_TEST

static void refuse(void *arg, struct rpc_req *req)
{
	rig->executed++;
	rpc_reply_status(req, -ENOKEY);
}

/* A client has proved its identity and not sealed yet: rpc leaves its requests to the service. */
START_TEST(test_bare_asks)
{
	struct rig_call c;
	struct wire_out out;

	begin_here(0);
	ck_assert_int_eq(call(), 0);
	rig->service.request = refuse;
	rig_call_init(rig, &c, 60000);
	wire_begin(&out, c.msg, sizeof(c.msg));
	c.call.msg_len = (size_t)wire_end(&out, WIRE_FAST, 0, 0);
	rpc_call_start(rig->peer, &c.call);
	rig_until(rig, c.finished);
	ck_assert_uint_eq(rig->executed, 1);
	ck_assert_int_eq(c.call.status, -ENOKEY);
}
END_TEST

/* A client or a server without sealing in place: it is not requested. */
START_TEST(test_not_here)
{
	begin_here(0);
	ck_assert_int_eq(call(), 0);
	ck_assert_uint_eq(offered, SEAL_NONE);
	ck_assert(!rpc_peer_can_seal_late(rig->peer));
	ck_assert_int_eq(rpc_peer_seal_late(rig->peer,
					    rpc_peer_epoch(rig->peer), &ours),
			 -ESTALE);
}
END_TEST

/* ---- inputs of a connection's keys ---- */

/* Returns whether one end can open what the other one seals. */
static bool fit(struct sealer *from, struct sealer *to)
{
	uint8_t data[16] = "so it is", tag[SEALER_TAG_LEN];
	const struct iovec piece = { data, sizeof(data) };

	ck_assert_int_eq(from->seal(from, NULL, 0, &piece, 1, data, tag), 0);
	return !to->open(to, NULL, 0, data, sizeof(data), tag);
}

/* Returns whether both ends fit.  Neither end can open what it has sealed itself. */
static bool fit_both(struct sealer *caller, struct sealer *server)
{
	bool fits = fit(caller, server) && fit(server, caller);

	if (fits)
		ck_assert(!fit(server, server));
	sealer_free(caller);
	sealer_free(server);
	return fits;
}

static void pair_with(enum handshake_side side,
		      struct seal_agreement **agreement)
{
	const struct prover *prover = keyring_prover(ring);

	ck_assert_int_eq(prover->pair(prover->arg, side, agreement), 0);
	(*agreement)->mode = SEAL_AUTH;
}

/*
 * The keys depend on what both ends know: each public key as it was sent, with its highest bit
 * (which the shared secret ignores), and the shared secret.  A listener that has the ring does not
 * have that secret.
 */
START_TEST(test_bound)
{
	struct handshake shake = { .fsid = RIG_FSID, .session = SESSION };
	struct seal_agreement *ours_, *theirs_, *other;
	struct sealer *caller, *server;
	uint8_t(*public)[WIRE_KEY_LEN];
	struct wire_proof proof;

	keyring_prover(ring)->prove(ring, &shake, HANDSHAKE_CALLER, "", 0,
				    &proof);
	pair_with(HANDSHAKE_CALLER, &ours_);
	pair_with(HANDSHAKE_SERVER, &theirs_);
	pair_with(HANDSHAKE_SERVER, &other);
	ours_->key = theirs_->key = le32toh(proof.key);
	public = theirs_->public;
	memcpy(public[0], ours_ -> public[0], WIRE_KEY_LEN);
	memcpy(ours_->public[1], public[1], WIRE_KEY_LEN);
	ck_assert_int_eq(keyring_prover(ring)->seal(ring, &shake,
						    HANDSHAKE_CALLER, ours_,
						    &caller),
			 0);
	shake.index += _i == 1;
	if (_i == 2 || _i == 3)
	public[_i - 2][WIRE_KEY_LEN - 1] ^= 0x80;
	if (_i == 4)
		memcpy(theirs_->own, other->own, WIRE_KEY_LEN);
	ck_assert_int_eq(keyring_prover(ring)->seal(ring, &shake,
						    HANDSHAKE_SERVER, theirs_,
						    &server),
			 0);
	ck_assert_int_eq(fit_both(caller, server), !_i);
	sealing_unpair(ours_);
	sealing_unpair(theirs_);
	sealing_unpair(other);
}
END_TEST

/* The same for a connection that is sealed in place. */
START_TEST(test_here_bound)
{
	uint8_t what[4][MAC_LEN] = { { 1 }, { 2 }, { 3 }, { 4 } };
	struct transcript transcript = { { { 5 }, { 6 } } };
	struct sealer *end[2];
	uint8_t made[MAC_KEY_LEN];

	for (int side = 0; side < 2; side++) {
		if (side && _i && _i < 4)
			what[_i - 1][7] ^= 1;
		if (side && _i > 3)
			transcript.sum[_i - 4][7] ^= 1;
		sealing_root(what[0], what[1], made);
		ck_assert_int_eq(sealing_in_place(made, what[2], &transcript,
						  (enum handshake_side)side,
						  SEAL_AUTH, &end[side]),
				 0);
	}
	ck_assert_int_eq(fit_both(end[0], end[1]), !_i);
}
END_TEST

static void sum_of(uint8_t sum[TRANSCRIPT_LEN], const char *one,
		   const char *two)
{
	memset(sum, 0, TRANSCRIPT_LEN);
	transcript_extend(sum, one, strlen(one));
	transcript_extend(sum, two, strlen(two));
}

START_TEST(test_hear)
{
	static const char *const said[][2] = {
		{ "ab", "cd" }, { "ab", "ce" }, { "ac", "cd" },
		{ "cd", "ab" }, { "abc", "d" }, { "abcd", "" },
	};
	uint8_t sum[6][TRANSCRIPT_LEN];

	for (int i = 0; i < 6; i++) {
		sum_of(sum[i], said[i][0], said[i][1]);
		for (int k = 0; k < i; k++)
			ck_assert_mem_ne(sum[i], sum[k], TRANSCRIPT_LEN);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("rpc_seal");
	TCase *tc = tcase_create("rpc_seal");
	TCase *keys = tcase_create("keys");

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
	tcase_add_test(tc, test_told_not_to);
	tcase_add_loop_test(tc, test_nobody_joins, 0, 2);
	tcase_add_test(tc, test_behind_hello);
	tcase_add_test(tc, test_here);
	tcase_add_loop_test(tc, test_here_changed, 0, 2);
	tcase_add_test(tc, test_here_hears);
	tcase_add_test(tc, test_here_behind);
	tcase_add_test(tc, test_bare_asks);
	tcase_add_test(tc, test_not_here);
	suite_add_tcase(suite, tc);
	tcase_add_checked_fixture(keys, open_ring, close_ring);
	tcase_add_loop_test(keys, test_bound, 0, 5);
	tcase_add_loop_test(keys, test_here_bound, 0, 6);
	tcase_add_test(keys, test_hear);
	suite_add_tcase(suite, keys);
	return run_suite(suite);
}
