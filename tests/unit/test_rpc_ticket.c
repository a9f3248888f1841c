/* SPDX-License-Identifier: BSD-2-Clause */
/* test_rpc_ticket.c - clients that show tickets in HELLO, and those that do not. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/comm/progress/ctx.h"
#include "tests/unit/hello_rig.h"
#include "tests/unit/key_rig.h"
#include "tests/unit/mock_tp.h"
#include "tests/unit/raw_client.h"
#include "tests/run_suite.h"

#define SESSION 0x1111u

static struct rig *rig;
static struct key_rig file;
static struct keyring *a, *b;
static struct client_ticket *pass;
static struct ticket_verifier house;
static struct ticket_hooks keeper;
static uint64_t now;

static const struct token_limits limits = { RIG_FSID, SESSION, 7, 1000 };

static int clock_of(void *arg, uint64_t term, uint64_t *out)
{
	if (term > 7)
		return -EAGAIN;
	*out = now;
	return term == 7 ? 0 : -ESTALE;
}

static void setup(void)
{
	key_rig_open(&file);
	a = key_rig_ring(&file, KEY_A "\n");
	b = key_rig_ring(&file, KEY_B "\n");
	ck_assert_int_eq(client_ticket_new(&pass), 0);
	house = (struct ticket_verifier){ a, clock_of, NULL };
	now = 10;
	rig = calloc(1, sizeof(*rig));
	rig->session = SESSION;
	rig->sattr.role = WIRE_ROLE_IOD;
	rig->sattr.index = 2;
	rig->index = 2;
	rig->prover = client_ticket_prover(pass);
	rig->sattr.prover = keyring_prover(a);
}

static void teardown(void)
{
	rig_close(rig);
	client_ticket_free(pass);
	keyring_close(a);
	keyring_close(b);
	key_rig_close(&file);
}

static void begin(enum admission admission)
{
	keeper = ticket_verifier_hooks(&house, admission);
	rig->sattr.keeper = &keeper;
	rig_open(rig, "mock");
}

static int call(void)
{
	uint64_t offset;

	return rig_append_now(rig, 1, &offset, 60000);
}

static unsigned int refused(void)
{
	struct rpc_server_stats st;

	rpc_server_stats(rig->server, &st);
	return (unsigned int)st.unknown;
}

START_TEST(test_ticket)
{
	/* used by hello_rig_ticket() */
	static const uint32_t groups[] = { 4, 0, 27 };
	const struct rpc_cred *cred;
	struct rig_call c;

	begin(ADMIT_PROVED);
	rpc_peer_close(rig->peer, false);
	rig->cred = (struct rpc_cred){ .uid = 5, .gid = 6, .ngroups = 1 };
	rig->peer = rig_peer_open(rig);
	hello_rig_pass(a, &limits, pass);
	rig_release(rig, &c, 60000);
	rig_until(rig, rig->nheld);
	cred = &rpc_session_info(rig->held[0]->session)->cred;
	ck_assert_uint_eq(cred->uid, 1000);
	ck_assert_uint_eq(cred->gid, 100);
	ck_assert_uint_eq(cred->ngroups, 3);
	ck_assert_mem_eq(cred->groups, groups, sizeof(groups));
	rig_answer(rig);
	rig_until(rig, c.finished);
	ck_assert_uint_eq(rig_logged(rig, "uid 1000, on"), 1);
	rig_server_close(rig);
	rig_server_open(rig);
	ck_assert_int_eq(call(), 0);
	ck_assert_uint_eq(refused(), 0);
	ck_assert_uint_eq(atomic_load(&rig->cctx->impostors), 0);
}
END_TEST

START_TEST(test_none)
{
	begin(ADMIT_PROVED);
	ck_assert_int_eq(call(), -EKEYREJECTED);
	ck_assert_uint_eq(refused(), 1);
	ck_assert_uint_eq(rig->opened, 0);
	ck_assert_uint_eq(rig_logged(rig, "it does not prove who it is: write "
					  "auth="),
			  1);
}
END_TEST

/* Gives the pass a ticket of the rig's session with this user and group, until expiry. */
static void have(uint32_t uid, uint32_t group, uint64_t expiry)
{
	uint8_t ticket[TICKET_MAX], secret[MAC_KEY_LEN];
	struct ticket t = { .limits = { RIG_FSID, rig->session, 7, expiry },
			    .uid = uid,
			    .gid = 100,
			    .ngroups = 1,
			    .groups = { group } };
	int len;

	len = ticket_seal(a, &t, ticket, sizeof(ticket));
	ck_assert_int_gt(len, 0);
	ck_assert_int_eq(ticket_secret(a, ticket, (size_t)len, secret), 0);
	ck_assert_int_eq(client_ticket_set(pass, ticket, (size_t)len, secret),
			 0);
}

/* The user was added to another group; for the server the session keeps its groups. */
START_TEST(test_other_groups)
{
	begin(_i ? ADMIT_AS_NOBODY : ADMIT_PROVED);
	have(1000, 5, 1000);
	ck_assert_int_eq(call(), 0);
	have(1000, 6, 2000);
	rpc_peer_reconnect(rig->peer);
	ck_assert_int_eq(call(), 0);
	ck_assert_uint_eq(rig_logged(rig, "resumes session"), 1);
	have(1001, 6, 3000);
	rpc_peer_reconnect(rig->peer);
	ck_assert_int_eq(call(), _i ? -ESTALE : -EPERM);
	ck_assert_uint_eq(rig->opened, 1);
}
END_TEST

/*
 * Without an agreement on proofs there are no nonces, so a ticket would be valid on the next
 * connection, too.
 */
START_TEST(test_no_nonces)
{
	struct handshake shake = { .fsid = RIG_FSID,
				   .session = SESSION,
				   .epoch = 1,
				   .role = WIRE_ROLE_CLIENT,
				   .server = WIRE_ROLE_IOD,
				   .index = 2 };
	struct hello_rig hello;
	struct raw raw;

	begin(ADMIT_PROVED);
	hello_rig_pass(a, &limits, pass);
	raw_open(&raw, rig, SESSION, 1);
	raw_connect(&raw);
	raw_until(&raw, raw.established);
	shake.boot = le64toh(raw.answer.boot);
	ck_assert_int_eq(
		hello_rig_say(&hello, client_ticket_prover(pass), &shake), 0);
	memcpy(raw.buf->out, hello.buf, hello.len);
	raw_send(&raw, hello.len);
	raw_until(&raw, raw.received);
	ck_assert_int_eq(raw_status(&raw, 0), EKEYREJECTED);
	ck_assert_uint_eq(rig->opened, 0);
	raw_close(&raw);
}
END_TEST

/* A resumed session is valid until the ticket that it shows then expires. */
START_TEST(test_until)
{
	struct token_limits later = limits;
	const struct rpc_session_info *info;
	struct rig_call c;

	begin(ADMIT_PROVED);
	hello_rig_pass(a, &limits, pass);
	rig_release(rig, &c, 60000);
	rig_until(rig, rig->nheld);
	info = rpc_session_info(rig->held[0]->session);
	ck_assert_uint_eq(info->until, limits.expiry);
	later.expiry++;
	hello_rig_pass(a, &later, pass);
	rpc_peer_reconnect(rig->peer);
	rig_answer(rig);
	rig_until(rig, c.finished);
	ck_assert_int_eq(call(), 0);
	ck_assert_uint_eq(rig->opened, 1);
	ck_assert_uint_eq(info->until, later.expiry);
}
END_TEST

/* A ticket counts even if the server trusts clients without one. */
START_TEST(test_open_door)
{
	begin(ADMIT_ALL);
	if (_i)
		hello_rig_pass(a, &limits, pass);
	rig->cred.uid = 5;
	ck_assert_int_eq(call(), 0);
	ck_assert_uint_eq(rig_logged(rig, "uid 1000, on"), 1);
}
END_TEST

START_TEST(test_bad_tickets)
{
	struct token_limits bad = limits;
	int want = -EKEYREJECTED;

	begin(ADMIT_PROVED);
	switch (_i) {
	case 0:
		bad.session++;
		break;
	case 1:
		bad.fsid++;
		break;
	case 2:
		bad.term--;
		want = -ESTALE;
		break;
	case 3:
		bad.expiry = now;
		want = -EKEYEXPIRED;
	}
	hello_rig_pass(_i == 4 ? b : a, &bad, pass);
	ck_assert_int_eq(call(), want);
	ck_assert_uint_eq(refused(), 1);
	ck_assert_uint_eq(rig->opened, 0);
	/* the right ticket, without a restart */
	hello_rig_pass(a, &limits, pass);
	ck_assert_int_eq(call(), 0);
}
END_TEST

/* The server does not know that manager yet: the client retries. */
START_TEST(test_later)
{
	struct token_limits next = limits;
	struct rig_call c;

	begin(ADMIT_PROVED);
	next.term++;
	hello_rig_pass(a, &next, pass);
	rig_append(rig, &c, 1, 60000);
	rig_until(rig, rig_logged(rig, "cannot connect"));
	hello_rig_pass(a, &limits, pass);
	rig_until(rig, c.finished);
	ck_assert_int_eq(c.call.status, 0);
	ck_assert_uint_eq(refused(), 0);
}
END_TEST

/* The listening process does not have our servers' key. */
START_TEST(test_false_server)
{
	begin(ADMIT_PROVED);
	rig_server_close(rig);
	if (_i)
		rig->sattr.prover = NULL, rig->sattr.keeper = NULL;
	else
		house.ring = b, rig->sattr.prover = keyring_prover(b);
	rig_server_open(rig);
	hello_rig_pass(a, &limits, pass);
	ck_assert_int_eq(call(), -EKEYREJECTED);
	ck_assert_uint_eq(atomic_load(&rig->cctx->impostors), 1);
	ck_assert_uint_eq(rig->executed, 0);
}
END_TEST

/* ---- a manager: sessions of nobody, until they get an owner ---- */

static int greet_as(struct raw *raw, uint64_t session, uint32_t epoch)
{
	raw_open(raw, rig, session, epoch);
	raw_connect(raw);
	raw_until(raw, raw->established || raw->rejected);
	raw_send(raw, raw_hello(raw, 0));
	raw_until(raw, raw->received);
	return -raw_status(raw, 0);
}

static int greet(struct raw *raw, uint32_t epoch)
{
	return greet_as(raw, SESSION, epoch);
}

START_TEST(test_strangers)
{
	begin(ADMIT_AS_NOBODY);
	rig->cred.uid = 0;
	ck_assert_int_eq(call(), 0);
	ck_assert_uint_eq(rig_logged(rig, "uid 65534, on"), 1);
	/* and back, as nobody */
	rpc_peer_close(rig->peer, false);
	rig->peer = rig_peer_open(rig);
}
END_TEST

static void refuse(void *arg, struct rpc_req *req)
{
	rig->executed++;
	rpc_reply_status(req, -ENOKEY);
}

/* Requests that rpc serves by itself need an identity. */
START_TEST(test_stranger_asks)
{
	struct rig_call c;
	struct wire_out out;

	begin(ADMIT_AS_NOBODY);
	if (_i)
		hello_rig_pass(a, &limits, pass);
	rig->service.request = refuse;
	rig_call_init(rig, &c, 60000);
	wire_begin(&out, c.msg, sizeof(c.msg));
	c.call.msg_len = (size_t)wire_end(&out, WIRE_FAST, 0, 0);
	rpc_call_start(rig->peer, &c.call);
	rig_until(rig, c.finished);
	ck_assert_uint_eq(rig->executed, !_i);
	ck_assert_int_eq(c.call.status == -ENOKEY, !_i);
}
END_TEST

/* A session that was opened with a ticket cannot be resumed by its number alone. */
START_TEST(test_return_without)
{
	struct raw raw;

	begin(ADMIT_AS_NOBODY);
	hello_rig_pass(a, &limits, pass);
	ck_assert_int_eq(call(), 0);
	if (_i) {
		rpc_peer_close(rig->peer, false);
		rig->peer = NULL;
		rig_for_ms(rig, 1);
	}
	ck_assert_int_eq(greet(&raw, 0x7fffff00), -EKEYREJECTED);
	ck_assert_uint_eq(refused(), 1);
	raw_close(&raw);
	if (!_i) {
		ck_assert_int_eq(call(), 0);
		ck_assert_uint_eq(rig_logged(rig, "connection lost"), 0);
	}
}
END_TEST

/* ---- a stranger who knows the number of another's session ---- */

/*
 * The stranger sends no HELLO, or claims to be another kind of caller; the owner is accepted at
 * once.
 */
START_TEST(test_number_held)
{
	struct raw raw;

	begin(ADMIT_PROVED);
	hello_rig_pass(a, &limits, pass);
	raw_open(&raw, rig, SESSION, 0x7fffff00);
	if (_i)
		raw.priv.role = htole16(WIRE_ROLE_MGR);
	raw_connect(&raw);
	raw_until(&raw, raw.established);
	ck_assert_int_eq(call(), 0);
	ck_assert_uint_eq(rig_logged(rig, "cannot connect"), 0);
	ck_assert_uint_eq(rig_logged(rig, "uid 1000, on"), 1);
	ck_assert(!raw.disconnected);
	/* and he gets nothing of it */
	raw_send(&raw, raw_hello(&raw, 0));
	raw_until(&raw, raw.received);
	ck_assert_int_eq(raw_status(&raw, 0), EKEYREJECTED);
	raw_close(&raw);
	ck_assert_int_eq(call(), 0);
	ck_assert_uint_eq(rig->opened, 1);
}
END_TEST

/* However often he connects, his own oldest connections are closed. */
START_TEST(test_number_crowded)
{
	struct raw raw[9];
	unsigned int i, left = 0;

	begin(ADMIT_PROVED);
	hello_rig_pass(a, &limits, pass);
	for (i = 0; i < 9; i++) {
		raw_open(&raw[i], rig, SESSION, 0x7fffff00);
		raw_connect(&raw[i]);
		raw_until(&raw[i], raw[i].established || raw[i].rejected);
	}
	for (i = 0; i < 9; i++) {
		raw_turn(&raw[i]);
		left += raw[i].established && !raw[i].disconnected;
	}
	ck_assert_uint_le(left, 4);
	ck_assert_int_eq(call(), 0);
	ck_assert_uint_eq(rig_logged(rig, "cannot connect"), 0);
	for (i = 0; i < 9; i++)
		raw_close(&raw[i]);
}
END_TEST

static void connect_to(struct raw *raw, uint64_t session)
{
	raw_open(raw, rig, session, 0x7fffff00);
	raw_connect(raw);
	raw_until(raw, raw->established || raw->rejected);
}

/*
 * He also uses up what sessions may have together: the owner keeps its connection if he connects
 * again.
 */
START_TEST(test_number_everywhere)
{
	struct raw raw[160], his;
	unsigned int i;

	rig->sattr.max_sessions = 100;
	begin(ADMIT_PROVED);
	for (i = 0; i < 157; i++)
		connect_to(&raw[i], 0x2222 + i / 4);
	connect_to(&raw[157], SESSION);
	connect_to(&his, SESSION);
	connect_to(&raw[158], SESSION);
	raw_turn(&his);
	ck_assert(his.established && !his.disconnected);
	/* ... and there are limits */
	connect_to(&raw[159], SESSION);
	raw_turn(&his);
	ck_assert(his.disconnected);
	for (i = 0; i < 160; i++)
		raw_close(&raw[i]);
	raw_close(&his);
}
END_TEST

static void (*closes)(void *arg, struct rpc_session *session, bool clean);

/* As the manager does it. */
static void close_fenced(void *arg, struct rpc_session *session, bool clean)
{
	if (!clean)
		rpc_server_fence(rig->server, rpc_session_info(session)->id);
	closes(arg, session, clean);
}

static void fence_the_unclean(void)
{
	closes = rig->service.session_close;
	rig->service.session_close = close_fenced;
}

/*
 * After a restart of the manager, a stranger uses the number before its owner does, with any epoch.
 */
START_TEST(test_number_taken)
{
	const uint32_t epoch = _i ? 0x7fffff00 : 1;
	struct raw raw;

	begin(ADMIT_AS_NOBODY);
	fence_the_unclean();
	hello_rig_pass(a, &limits, pass);
	ck_assert_int_eq(greet(&raw, epoch), 0);
	ck_assert_uint_eq(rig_logged(rig, "uid 65534, on"), 1);
	ck_assert_int_eq(call(), 0);
	ck_assert_uint_eq(rig_logged(rig, "uid 1000, on"), 1);
	raw_close(&raw);
	/* he does not get it again when nobody uses it */
	rpc_peer_close(rig->peer, true);
	rig->peer = NULL;
	rig_until(rig, rig->clean == 1);
	ck_assert_int_eq(greet(&raw, epoch), -EKEYREJECTED);
	raw_close(&raw);
}
END_TEST

/* When sessions of nobody end, the server forgets no ended session. */
START_TEST(test_number_fenced)
{
	struct raw raw;
	uint64_t i;

	rig->sattr.session_ttl_ms = 1;
	begin(ADMIT_AS_NOBODY);
	fence_the_unclean();
	rpc_server_fence(rig->server, SESSION);
	for (i = 1; i < RPC_FENCE_MAX; i++)
		rpc_server_fence(rig->server, 0x100000 + i);
	ck_assert_int_eq(greet_as(&raw, 0x2222, 1), 0);
	raw_close(&raw);
	rig_until(rig, rig->closed == 1);
	connect_to(&raw, SESSION);
	ck_assert(raw.rejected);
	raw_close(&raw);
	connect_to(&raw, 0x2222);
	ck_assert(raw.rejected);
	raw_close(&raw);
}
END_TEST

/* A user finds a stranger at the number of its session, and disconnects after it. */
static void claim(uint64_t session, uint32_t uid)
{
	const unsigned int before = rig->clean;
	struct raw raw;

	rig->session = session;
	have(uid, 5, 1000);
	ck_assert_int_eq(greet_as(&raw, session, 1), 0);
	rig->peer = rig_peer_open(rig);
	ck_assert_int_eq(call(), 0);
	rpc_peer_close(rig->peer, true);
	rig->peer = NULL;
	rig_until(rig, rig->clean > before);
	raw_close(&raw);
}

/* A user who finds strangers at his own numbers all the time removes no record of others. */
START_TEST(test_number_pushed)
{
	struct raw raw;
	unsigned int i;

	begin(ADMIT_AS_NOBODY);
	rpc_peer_close(rig->peer, false);
	claim(SESSION, 1000);
	for (i = 0; i < 70; i++)
		claim(0x2222 + i, 2000);
	ck_assert_int_eq(greet(&raw, 1), -EKEYREJECTED);
	raw_close(&raw);
	/* ... only his own */
	ck_assert_int_eq(greet_as(&raw, 0x2222, 1), 0);
	raw_close(&raw);
}
END_TEST

/* The stranger has proved that he is another user: the owner continues under a new number. */
START_TEST(test_number_proved)
{
	const struct admitted who = { .uid = 2000, .gid = 100 };
	struct raw raw;

	begin(ADMIT_AS_NOBODY);
	ck_assert_int_eq(greet(&raw, 0), 0);
	raw_send(&raw, raw_release(&raw, 0, 1));
	raw_until(&raw, rig->nheld);
	ck_assert_int_eq(rpc_req_admit(rig->held[0], &who), 0);
	rig_answer(rig);
	hello_rig_pass(a, &limits, pass);
	ck_assert_int_eq(call(), -ESTALE);
	ck_assert(!raw.disconnected);
	raw_close(&raw);
}
END_TEST

/*
 * The owner of the session never returns: the session ends, although a stranger connects all the
 * time.
 */
START_TEST(test_number_outlived)
{
	struct raw raw[16];
	unsigned int n = 0;

	rig->sattr.session_ttl_ms = 100;
	rig->sattr.stall_ms = 500;
	begin(ADMIT_PROVED);
	hello_rig_pass(a, &limits, pass);
	ck_assert_int_eq(call(), 0);
	rpc_peer_close(rig->peer, false);
	rig->peer = NULL;
	for (; !rig->closed && n < 16; n++) {
		raw_open(&raw[n], rig, SESSION, 0x7fffff00);
		raw_connect(&raw[n]);
		raw_until(&raw[n], raw[n].established || raw[n].rejected);
		rig_for_ms(rig, 200);
	}
	ck_assert_uint_eq(rig->closed, 1);
	while (n)
		raw_close(&raw[--n]);
}
END_TEST

static int (*opens)(void *arg, struct rpc_session *session);

static int open_proved(void *arg, struct rpc_session *session)
{
	return rpc_session_info(session)->proved ? opens(arg, session)
						 : -EKEYREJECTED;
}

/* The manager rejects him, because it has a row of that session; this changes nothing. */
START_TEST(test_number_refused)
{
	struct rig_call c;
	struct raw raw;

	begin(ADMIT_AS_NOBODY);
	hello_rig_pass(a, &limits, pass);
	opens = rig->service.session_open;
	rig->service.session_open = open_proved;
	raw_open(&raw, rig, SESSION, 0x7fffff00);
	raw_connect(&raw);
	raw_until(&raw, raw.established);
	raw_send(&raw, raw_hello(&raw, 0));
	rig_append(rig, &c, 1, 60000);
	rig_until(rig, c.finished);
	ck_assert_int_eq(c.call.status, 0);
	ck_assert_uint_eq(rig_logged(rig, "cannot connect"), 0);
	ck_assert_uint_eq(rig_logged(rig, "uid 1000, on"), 1);
	raw_close(&raw);
}
END_TEST

/* AUTH arrives on a connection that another one has replaced. */
START_TEST(test_admit)
{
	const struct admitted who = { .uid = 1000, .gid = 100 };
	static struct rig_call c; /* for _i == 1, teardown() ends it */
	struct rpc_session_info *info;
	struct raw raw;

	begin(ADMIT_AS_NOBODY);
	rig_release(rig, &c, 60000);
	rig_until(rig, rig->nheld);
	info = rpc_session_info(rig->held[0]->session);
	ck_assert(!info->proved);
	ck_assert_uint_eq(info->cred.gid, 65534);
	ck_assert_uint_eq(info->cred.ngroups, 0);
	ck_assert_uint_ne(rpc_req_epoch(rig->held[0]), 0);
	if (_i) {
		ck_assert_int_eq(greet(&raw, 0x7fffff00), 0);
		ck_assert_uint_eq(rpc_req_epoch(rig->held[0]), 0);
		ck_assert_int_eq(rpc_req_admit(rig->held[0], &who), -ESTALE);
		ck_assert(!info->proved);
		ck_assert_uint_ne(info->cred.uid, 1000);
		raw_close(&raw);
		return;
	}
	ck_assert_int_eq(rpc_req_admit(rig->held[0], &who), 0);
	ck_assert(info->proved && info->cred.uid == 1000);
	rig_answer(rig);
	rig_until(rig, c.finished);
	ck_assert_int_eq(greet(&raw, 0x7fffff00), -EKEYREJECTED);
	raw_close(&raw);
	ck_assert_int_eq(call(), 0);
}
END_TEST

static struct rpc_req *held_of_stranger(struct raw *raw)
{
	raw_open(raw, rig, SESSION + 1, 1);
	raw_connect(raw);
	raw_until(raw, raw->established);
	raw_send(raw, raw_hello(raw, 0));
	raw_until(raw, raw->received);
	raw_send(raw, raw_release(raw, 0, 1));
	raw_until(raw, rig->nheld);
	return rig->held[0];
}

/* A stranger uses no place of a session, so it can wait for one. */
START_TEST(test_place_for_others)
{
	struct raw raw;

	rig->sattr.max_sessions = 1;
	begin(ADMIT_AS_NOBODY);
	hello_rig_pass(a, &limits, pass);
	held_of_stranger(&raw);
	ck_assert_int_eq(rig_append_now(rig, 1, NULL, 5000), 0);
	ck_assert_uint_eq(rig_logged(rig, "raise max_sessions"), 0);
	ck_assert(!raw.disconnected);
	rig_answer(rig);
	raw_close(&raw);
}
END_TEST

/* AUTH if there is no place, or for a session that has ended meanwhile. */
START_TEST(test_no_place)
{
	const struct admitted who = { .uid = 1000, .gid = 100 };
	struct rpc_req *req;
	struct raw raw;

	rig->sattr.max_sessions = 1;
	begin(ADMIT_AS_NOBODY);
	hello_rig_pass(a, &limits, pass);
	if (!_i)
		ck_assert_int_eq(call(), 0);
	req = held_of_stranger(&raw);
	if (_i)
		rpc_server_evict(rig->server, SESSION + 1);
	ck_assert_int_eq(rpc_req_admit(req, &who), -EAGAIN);
	ck_assert(!rpc_session_info(req->session)->proved);
	ck_assert_uint_eq(rpc_session_info(req->session)->cred.uid, 65534);
	rig_answer(rig);
	raw_close(&raw);
}
END_TEST

/* A full server has a reserve for tools of root, as their ticket says. */
START_TEST(test_reserve)
{
	rig->hails = WIRE_FT_TOOL;
	begin(ADMIT_PROVED);
	have(_i ? 1000 : 0, 27, 1000);
	mock.scarce = true;
	ck_assert_int_eq(rig_append_now(rig, 1, NULL, _i ? 300 : 60000),
			 _i ? -ETIMEDOUT : 0);
	ck_assert_uint_eq(rig->opened, !_i);
	ck_assert_uint_eq(rig_logged(rig, "the server has no room: few") > 0,
			  _i);
	mock.scarce = false;
	ck_assert_int_eq(call(), 0);
}
END_TEST

/* ... or as AUTH finds out. */
START_TEST(test_reserve_later)
{
	const struct admitted who = { .uid = _i ? 1000 : 0, .gid = 100 };
	struct rpc_session_info *info;
	struct rig_call c;

	rig->hails = WIRE_FT_TOOL;
	begin(ADMIT_AS_NOBODY);
	mock.scarce = true;
	rig_release(rig, &c, 60000);
	rig_until(rig, rig->nheld);
	info = rpc_session_info(rig->held[0]->session);
	ck_assert_int_eq(rpc_req_admit(rig->held[0], &who),
			 _i ? -WIRE_ENOFILES : 0);
	ck_assert_int_eq(info->proved, !_i);
	rig_answer(rig);
	rig_until(rig, c.finished);
	mock.scarce = false;
}
END_TEST

int main(void)
{
	Suite *s = suite_create("rpc_ticket");
	TCase *tc = tcase_create("rpc_ticket");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_ticket);
	tcase_add_test(tc, test_none);
	tcase_add_loop_test(tc, test_other_groups, 0, 2);
	tcase_add_test(tc, test_no_nonces);
	tcase_add_test(tc, test_until);
	tcase_add_loop_test(tc, test_open_door, 1, 2);
	tcase_add_loop_test(tc, test_bad_tickets, 0, 5);
	tcase_add_test(tc, test_later);
	tcase_add_loop_test(tc, test_false_server, 0, 2);
	tcase_add_test(tc, test_strangers);
	tcase_add_loop_test(tc, test_stranger_asks, 0, 2);
	tcase_add_loop_test(tc, test_return_without, 0, 2);
	tcase_add_loop_test(tc, test_number_held, 0, 2);
	tcase_add_test(tc, test_number_crowded);
	tcase_add_test(tc, test_number_everywhere);
	tcase_add_loop_test(tc, test_number_taken, 0, 2);
	tcase_add_test(tc, test_number_fenced);
	tcase_add_test(tc, test_number_pushed);
	tcase_add_test(tc, test_number_proved);
	tcase_add_test(tc, test_number_outlived);
	tcase_add_test(tc, test_number_refused);
	tcase_add_loop_test(tc, test_admit, 0, 2);
	tcase_add_test(tc, test_place_for_others);
	tcase_add_loop_test(tc, test_no_place, 0, 2);
	tcase_add_loop_test(tc, test_reserve, 0, 2);
	tcase_add_loop_test(tc, test_reserve_later, 0, 2);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
