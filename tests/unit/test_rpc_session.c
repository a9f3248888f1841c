/* SPDX-License-Identifier: BSD-2-Clause */
/* test_rpc_session.c - how sessions begin, resume, are rejected and end. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/mock_tp.h"
#include "tests/unit/raw_client.h"
#include "tests/run_suite.h"

static struct rig *rig;

static void setup(void)
{
	mock = (struct mock){ 0 };
	rig = calloc(1, sizeof(*rig));
}

static void teardown(void)
{
	rig_close(rig);
	ck_assert_int_eq(mock.mrs, 0);
}

static void start(void)
{
	rig_open(rig, "mock");
	ck_assert_int_eq(rig_append_now(rig, 1, NULL, 5000), 0);
	ck_assert_uint_eq(rig->opened, 1);
}

static void close_peer(bool bye)
{
	rpc_peer_close(rig->peer, bye);
	rig->peer = NULL;
}

static unsigned int sessions(void)
{
	struct rpc_server_stats stats;

	rpc_server_stats(rig->server, &stats);
	return (unsigned int)stats.sessions;
}

/* The kernel's identity of a peer counts, not the peer's own claim. */
START_TEST(the_kernel_knows_better)
{
	const uint32_t group = 44;
	const struct tp_identity id = {
		.uid = 42, .gid = 43, .ngroups = 1, .groups = &group
	};
	const struct rpc_cred *cred;
	struct rig_call c;

	mock.identity = &id;
	start();
	ck_assert_uint_eq(rig_logged(rig, "uid 42,"), 1);
	ck_assert_uint_eq(rig_logged(rig, "uid 1000,"), 0);
	rig_release(rig, &c, 5000);
	rig_until(rig, rig->nheld == 1);
	cred = &rpc_session_info(rig->held[0]->session)->cred;
	ck_assert_uint_eq(cred->gid, 43);
	ck_assert_uint_eq(cred->ngroups, 1);
	ck_assert_uint_eq(cred->groups[0], 44);
	rig_answer(rig);
	rig_until(rig, c.finished);
	mock.identity = NULL;
}
END_TEST

START_TEST(bye_ends_it)
{
	start();
	ck_assert_uint_eq(sessions(), 1);
	close_peer(true);
	rig_until(rig, rig->closed == 1);
	ck_assert_uint_eq(rig->clean, 1);
	ck_assert_uint_eq(rig->freed, 1);
	ck_assert_uint_eq(sessions(), 0);
}
END_TEST

/* Calls that the client gave up may still be executed. */
START_TEST(bye_may_be_unsure)
{
	uint8_t data[16] = { 0 };
	struct rig_call c;

	start();
	rig_io(rig, &c, WIRE_WRITE, 0, data, sizeof(data), NULL, 1, 5000);
	rpc_call_cancel(&c.call);
	ck_assert(rpc_peer_has_unanswered(rig->peer));
	/* the connection was closed because of the memory */
	rig_until(rig, rpc_peer_ready(rig->peer));
	ck_assert(rpc_peer_has_unanswered(rig->peer));
	rpc_peer_set_unclean(rig->peer);
	close_peer(true);
	rig_until(rig, rig->closed == 1);
	ck_assert_uint_eq(rig->clean, 0);
	ck_assert_uint_eq(sessions(), 0);
}
END_TEST

static bool its_memory_is_gone(struct rpc_call *call)
{
	return call;
}

/* The memory of a call was unmapped during the send: the part that arrived may be executed. */
START_TEST(bye_knows_of_memory_that_went)
{
	uint8_t data[16] = { 0 };
	struct rig_call c;

	start();
	mock.why = -EFAULT;
	mock.break_at = mock.step + 1;
	rig_io(rig, &c, WIRE_WRITE, 0, data, sizeof(data), NULL, 1, 5000);
	c.call.faulty = its_memory_is_gone;
	rig_until(rig, c.finished);
	ck_assert_int_eq(c.call.status, -EFAULT);
	ck_assert(rpc_peer_has_unanswered(rig->peer));
}
END_TEST

START_TEST(it_outlives_a_connection_for_its_ttl)
{
	uint64_t from;

	rig->sattr.session_ttl_ms = 60;
	start();
	from = clock_now();
	close_peer(false);
	rig_until(rig, rig->closed == 1);
	ck_assert_uint_ge(clock_now(), from + 60 * CLOCK_NS_PER_MS);
	ck_assert_uint_eq(rig->clean, 0);
	ck_assert_uint_eq(sessions(), 0);
	ck_assert_uint_eq(rig_logged(rig, "without a connection"), 1);
}
END_TEST

/* Breaks the connection.  Returns whether the client is back within ms. */
static bool breaks_for(unsigned int ms)
{
	uint64_t late = clock_after_ms(ms);
	int rc;

	mock.break_at = mock.step + 1;
	mock.broke = false;
	rc = rig_append_now(rig, 1, NULL, 5000);
	if (clock_now() >= late)
		return false;
	ck_assert_int_eq(rc, 0);
	return true;
}

/* The client loses its session only if it takes longer than the limit. */
START_TEST(it_resumes)
{
	unsigned int in_time = 0, late = 0;

	rig->sattr.session_ttl_ms = 60;
	start();
	while (in_time < 5) {
		ck_assert_uint_lt(late, 100);
		*(breaks_for(60) ? &in_time : &late) += 1;
		rig_for_ms(rig, 30);
	}
	ck_assert_uint_le(rig->fresh, 1 + late);
	ck_assert_uint_le(rig->opened, 1 + late);
	ck_assert_uint_le(rig->closed, late);
}
END_TEST

/* An idle client reconnects by itself, so that its session stays. */
START_TEST(idle_peer_reconnects)
{
	struct raw raw;

	start();
	raw_open(&raw, rig, 1, 1);
	rig_server_close(rig);
	rig_for_ms(rig, 5);
	rig_server_open(rig);
	rig_until(rig, rig->opened == 2);
	rig_until(rig, rig->fresh == 2);
	ck_assert_uint_eq(rig_logged(rig, "trying again"), 1);
	ck_assert_uint_eq(rig_logged(rig, "connected again"), 1);
	ck_assert_uint_eq(rig_logged(rig, "the server was restarted"), 1);
	raw_close(&raw);
}
END_TEST

/* A call that the callback starts does not count as one that was in flight before. */
START_TEST(a_call_at_the_first_contact_goes_once)
{
	struct rpc_server_stats stats;
	struct rig_call first, held, again;

	rig->at_fresh = &first;
	start();
	rig_until(rig, first.finished);
	ck_assert_int_eq(first.call.status, 0);
	rpc_server_stats(rig->server, &stats);
	ck_assert_uint_eq(stats.requests, 2);
	ck_assert_uint_eq(stats.replays, 0);
	ck_assert_uint_eq(stats.protocol_errors, 0);
	rig->at_fresh = &again;
	rig_release(rig, &held, 9000);
	rig_until(rig, rig->nheld == 1);
	rig_server_close(rig);
	rig_server_open(rig);
	rig_until(rig, rig->nheld == 1 && again.finished);
	ck_assert_int_eq(again.call.status, 0);
	rpc_server_stats(rig->server, &stats);
	ck_assert_uint_eq(stats.requests, 2);
	ck_assert_uint_eq(stats.protocol_errors, 0);
	rig_answer(rig);
	rig_until(rig, held.finished);
	ck_assert_int_eq(held.call.status, 0);
	ck_assert_uint_eq(rig->counter, 201);
}
END_TEST

/* A feature is used if both ends support it. */
START_TEST(features_of_both)
{
	struct raw raw;

	rig->sattr.features = WIRE_FT_LACKS;
	rig_open(rig, "mock");
	raw_open(&raw, rig, 0x77, 1);
	raw.hail.features = htole32(~(uint32_t)WIRE_FT_PROOF);
	raw_greet(&raw);
	ck_assert_uint_eq(le32toh(raw.hailed.features),
			  WIRE_FT_LACKS | WIRE_FT_JOB | WIRE_FT_V3 |
				  WIRE_FT_EVICT | WIRE_FT_GROUPS |
				  WIRE_FT_WAITS | WIRE_FT_TOOL | WIRE_FT_ROOM);
	ck_assert_uint_eq(rig->features,
			  WIRE_FT_LACKS | WIRE_FT_JOB | WIRE_FT_V3 |
				  WIRE_FT_EVICT | WIRE_FT_GROUPS |
				  WIRE_FT_WAITS | WIRE_FT_TOOL | WIRE_FT_ROOM);
	raw_close(&raw);
	raw_open(&raw, rig, 0x78, 1);
	raw_greet(&raw);
	ck_assert_uint_eq(raw.hailed.features, 0);
	ck_assert_uint_eq(rig->features, 0);
	raw_close(&raw);
}
END_TEST

/* A request of the first session is still running when its number is used again. */
START_TEST(no_second_life_before_the_end_of_the_first)
{
	struct raw a, b;

	rig->sattr.session_ttl_ms = 20;
	rig_open(rig, "mock");
	raw_open(&a, rig, 0x77, 1);
	raw_greet(&a);
	raw_send(&a, raw_release(&a, 0, 1));
	raw_until(&a, rig->nheld == 1);
	raw_close(&a);
	rig_until(rig, rig_logged(rig, "without a connection") == 1);
	raw_open(&b, rig, 0x77, 2);
	raw_connect(&b);
	raw_until(&b, b.rejected);
	ck_assert_uint_eq(le16toh(b.answer.status), EBUSY);
	ck_assert_uint_eq(rig->opened, 1);
	raw_close(&b);
	rig_answer(rig);
	rig_until(rig, rig->closed == 1);
	raw_open(&b, rig, 0x77, 3);
	raw_greet(&b);
	ck_assert_uint_eq(rig->opened, 2);
	raw_close(&b);
}
END_TEST

START_TEST(fenced)
{
	struct rig_call c;

	start();
	rig_release(rig, &c, 5000);
	rig_until(rig, rig->nheld == 1);
	rpc_server_fence(rig->server, rig->session);
	rig_until(rig, c.finished);
	ck_assert_int_eq(c.call.status, -ESTALE);
	ck_assert_uint_eq(rig->closed, 0);
	rig_answer(rig);
	rig_until(rig, rig->closed == 1);
	ck_assert_uint_eq(rig->clean, 0);
	ck_assert_int_eq(rig_append_now(rig, 1, NULL, 5000), -ESTALE);
	ck_assert_uint_eq(rig->counter, 1);
}
END_TEST

/* The server remembers a limited number of fences, also of sessions that it has never seen. */
START_TEST(the_oldest_fence_is_forgotten)
{
	struct raw raw;

	rig_open(rig, "mock");
	rpc_server_fence(rig->server, 0x77);
	for (uint64_t i = 1; i < RPC_FENCE_MAX + (uint64_t)_i; i++)
		rpc_server_fence(rig->server, 0x10000 + i);
	raw_open(&raw, rig, 0x77, 1);
	raw_connect(&raw);
	raw_until(&raw, raw.established || raw.rejected);
	ck_assert_int_eq(raw.rejected, !_i);
	raw_close(&raw);
}
END_TEST

START_TEST(fenced_before)
{
	rig_open(rig, "mock");
	rpc_server_fence(rig->server, rig->session);
	rpc_server_fence(rig->server, rig->session);
	ck_assert_int_eq(rig_append_now(rig, 1, NULL, 5000), -ESTALE);
	ck_assert_uint_eq(rig->opened, 0);
}
END_TEST

START_TEST(wrong_file_system)
{
	rig->fsid = 0xaaaabbbbccccddddull;
	rig_open(rig, "mock");
	ck_assert_int_eq(rig_append_now(rig, 1, NULL, 5000), -ENXIO);
	ck_assert_uint_eq(rig_logged(rig, "1234567890abcdef"), 2);
	ck_assert_uint_eq(rig_logged(rig, "aaaabbbbccccdddd"), 2);
	/* the client has reported it, and tries each time */
	ck_assert_int_eq(rig_append_now(rig, 1, NULL, 5000), -ENXIO);
	ck_assert_uint_eq(rig_logged(rig, "refused: the server serves"), 1);
	ck_assert_uint_eq(rig_logged(rig, "refused: it wants"), 2);
	ck_assert_uint_eq(sessions(), 0);
}
END_TEST

START_TEST(refused_by_the_service)
{
	rig->open_status = -EACCES;
	rig_open(rig, "mock");
	ck_assert_int_eq(rig_append_now(rig, 1, NULL, 5000), -EACCES);
	rig_until(rig, sessions() == 0);
	ck_assert_uint_eq(rig->closed, 0);
	rig->open_status = 0;
	ck_assert_int_eq(rig_append_now(rig, 1, NULL, 5000), 0);
}
END_TEST

/* The second client waits until its deadline, or until there is room. */
START_TEST(too_many)
{
	struct rpc_peer *first;

	rig->sattr.max_sessions = 1;
	start();
	first = rig->peer;
	rig->session = 0x2222;
	rig->peer = rig_peer_open(rig);
	ck_assert_int_eq(rig_append_now(rig, 1, NULL, 50), -ETIMEDOUT);
	ck_assert_uint_ge(rig_logged(rig, "max_sessions"), 1);
	rpc_peer_close(first, true);
	ck_assert_int_eq(rig_append_now(rig, 1, NULL, 5000), 0);
	ck_assert_uint_eq(sessions(), 1);
}
END_TEST

START_TEST(away_ones_make_room)
{
	rig->sattr.max_sessions = 2;
	start();
	for (rig->session = 0x2222; rig->session < 0x2227; rig->session++) {
		close_peer(false);
		rig->peer = rig_peer_open(rig);
		ck_assert_int_eq(rig_append_now(rig, 1, NULL, 5000), 0);
	}
	ck_assert_uint_eq(rig->opened, 6);
	rig_until(rig, rig->closed == 4);
	ck_assert_uint_eq(rig->clean, 0);
	ck_assert_uint_eq(sessions(), 2);
}
END_TEST

#define STRANGERS 80

static void connect_stranger(struct raw *raw, unsigned int i)
{
	raw_open(raw, rig, 0x100 + i, 1);
	raw_connect(raw);
	raw_until(raw, raw->established);
}

/* The disconnected client made room for others, and did not time out. */
static void no_timeout(void)
{
	ck_assert_uint_eq(rig_logged(rig, "no HELLO within"), 0);
}

/* A client without a HELLO takes no place, and makes room for others. */
START_TEST(strangers_end_nobody)
{
	struct raw raw[STRANGERS], *last = &raw[STRANGERS - 1], mine, back;
	unsigned int i;

	rig->sattr.max_sessions = 1;
	rig_open(rig, "mock");
	raw_open(&mine, rig, 0x77, 1);
	raw_greet(&mine);
	raw_close(&mine);
	for (i = 0; i < STRANGERS; i++)
		connect_stranger(&raw[i], i);
	raw_until(&raw[0], raw[0].disconnected);
	no_timeout();
	ck_assert(!last->disconnected);
	ck_assert_uint_eq(rig->closed, 0);
	ck_assert_uint_eq(sessions(), 1);
	raw_open(&back, rig, 0x77, 2);
	raw_greet(&back);
	ck_assert_uint_eq(rig->opened, 1);
	raw_close(&back);
	/* a client gets its place with its HELLO */
	rig_for_ms(rig, 1);
	raw_send(last, raw_hello(last, 0));
	raw_until(last, last->received == 1);
	ck_assert_int_eq(raw_status(last, 0), 0);
	rig_until(rig, rig->closed == 1);
	ck_assert_uint_eq(sessions(), 1);
	for (i = 0; i < STRANGERS; i++)
		raw_close(&raw[i]);
}
END_TEST

/* There may be as many as connections, whichever clients were here before. */
START_TEST(strangers_have_the_places_of_who_is_away)
{
	struct raw away, raw[STRANGERS + 1], *first = raw;
	unsigned int i;

	rig->sattr.max_sessions = STRANGERS;
	rig_open(rig, "mock");
	for (i = 0; i < STRANGERS; i++) {
		raw_open(&away, rig, 0x1000 + i, 1);
		raw_greet(&away);
		raw_close(&away);
	}
	for (i = 0; i < STRANGERS; i++)
		connect_stranger(&raw[i], i);
	raw_send(first, raw_hello(first, 0));
	raw_until(first, first->received == 1 || first->disconnected);
	ck_assert(!first->disconnected);
	ck_assert_int_eq(raw_status(first, 0), 0);
	connect_stranger(&raw[i], i);
	raw_until(&raw[1], raw[1].disconnected);
	no_timeout();
	for (i = 0; i <= STRANGERS; i++)
		raw_close(&raw[i]);
}
END_TEST

/* Connections of the host with the most are closed, not those of other hosts. */
START_TEST(strangers_of_another_host_stay)
{
	struct raw raw[STRANGERS], *other = &raw[0];
	unsigned int i;

	rig->sattr.max_sessions = 1;
	rig_open(rig, "mock");
	mock.from = "mock 10.0.0.1:7";
	connect_stranger(other, 0);
	mock.from = "mock 10.0.0.2:7";
	for (i = 1; i < STRANGERS; i++)
		connect_stranger(&raw[i], i);
	raw_until(&raw[1], raw[1].disconnected);
	rig_for_ms(rig, 1);
	raw_turn(other);
	ck_assert(!other->disconnected);
	no_timeout();
	for (i = 0; i < STRANGERS; i++)
		raw_close(&raw[i]);
}
END_TEST

/* The same if all use the number of one session. */
START_TEST(of_another_host_stays)
{
	struct raw raw[6];
	unsigned int i;

	rig_open(rig, "mock");
	for (i = 0; i < 6; i++) {
		mock.from = i ? "mock 10.0.0.2:7" : "mock 10.0.0.1:7";
		raw_open(&raw[i], rig, 0x77, 1);
		raw_connect(&raw[i]);
		raw_until(&raw[i], raw[i].established);
	}
	raw_until(&raw[1], raw[1].disconnected);
	rig_for_ms(rig, 1);
	raw_turn(&raw[0]);
	ck_assert(!raw[0].disconnected);
	no_timeout();
	for (i = 0; i < 6; i++)
		raw_close(&raw[i]);
}
END_TEST

/* Connections that use the numbers of others are bounded over all sessions. */
START_TEST(numbers_are_bounded)
{
	struct raw raw[4 * 40];
	unsigned int i, left = 0;

	rig->sattr.max_sessions = 100;
	rig_open(rig, "mock");
	for (i = 0; i < 4 * 40; i++) {
		raw_open(&raw[i], rig, 0x100 + i / 4, 1);
		raw_connect(&raw[i]);
		raw_until(&raw[i], raw[i].established);
	}
	rig_for_ms(rig, 1);
	for (i = 0; i < 4 * 40; i++) {
		raw_turn(&raw[i]);
		left += !raw[i].disconnected;
	}
	ck_assert_uint_eq(left, 2 * 40 + 64);
	no_timeout();
	for (i = 0; i < 4 * 40; i++)
		raw_close(&raw[i]);
}
END_TEST

/* A host with more sessions than another one does not end the other's disconnected sessions. */
START_TEST(a_host_ends_none_of_who_has_fewer)
{
	struct raw away, raw[3];
	unsigned int i;

	rig->sattr.max_sessions = 3;
	rig_open(rig, "mock");
	mock.from = "mock 10.0.0.1:7";
	raw_open(&away, rig, 0x77, 1);
	raw_greet(&away);
	raw_close(&away);
	mock.from = "mock 10.0.0.2:7";
	for (i = 0; i < 2; i++) {
		raw_open(&raw[i], rig, 0x100 + i, 1);
		raw_greet(&raw[i]);
	}
	connect_stranger(&raw[2], 2);
	raw_send(&raw[2], raw_hello(&raw[2], 0));
	raw_until(&raw[2], raw[2].received);
	ck_assert_int_eq(raw_status(&raw[2], 0), EAGAIN);
	ck_assert_uint_eq(rig->closed, 0);
	ck_assert_uint_eq(sessions(), 3);
	for (i = 0; i < 3; i++)
		raw_close(&raw[i]);
}
END_TEST

/* The sessions of one host are bounded: its own disconnected ones make room. */
START_TEST(a_host_has_so_many)
{
	struct rpc_peer *first;

	rig->sattr.max_sessions = 8;
	rig->sattr.host_sessions = 2;
	start();
	first = rig->peer;
	rig->session = 0x2222;
	rig->peer = rig_peer_open(rig);
	ck_assert_int_eq(rig_append_now(rig, 1, NULL, 5000), 0);
	close_peer(false);
	rig->session = 0x3333;
	rig->peer = rig_peer_open(rig);
	ck_assert_int_eq(rig_append_now(rig, 1, NULL, 5000), 0);
	rig_until(rig, rig->closed == 1);
	rpc_peer_close(rig->peer, true);
	rig_until(rig, rig->closed == 2);
	rig->session = 0x4444;
	rig->peer = rig_peer_open(rig);
	ck_assert_int_eq(rig_append_now(rig, 1, NULL, 5000), 0);
	rpc_peer_close(first, false);
	first = rig->peer;
	rig->session = 0x5555;
	rig->peer = rig_peer_open(rig);
	ck_assert_int_eq(rig_append_now(rig, 1, NULL, 5000), 0);
	rpc_peer_close(rig->peer, false);
	rig->peer = first;
	ck_assert_uint_eq(sessions(), 2);
}
END_TEST

START_TEST(a_host_has_no_more)
{
	struct rpc_peer *first;

	rig->sattr.max_sessions = 8;
	rig->sattr.host_sessions = 1;
	start();
	first = rig->peer;
	rig->session = 0x2222;
	rig->peer = rig_peer_open(rig);
	ck_assert_int_eq(rig_append_now(rig, 1, NULL, 50), -ETIMEDOUT);
	ck_assert_uint_ge(rig_logged(rig, "raise host_sessions"), 1);
	ck_assert_uint_eq(rig->opened, 1);
	rpc_peer_close(first, true);
	ck_assert_int_eq(rig_append_now(rig, 1, NULL, 5000), 0);
}
END_TEST

START_TEST(a_newer_connection_replaces_the_older)
{
	struct raw a, b, c;

	rig_open(rig, "mock");
	raw_open(&a, rig, 0x77, 1);
	raw_open(&b, rig, 0x77, 5);
	raw_open(&c, rig, 0x77, 3);
	raw_greet(&a);
	raw_greet(&b);
	raw_until(&a, a.disconnected);
	raw_connect(&c);
	raw_until(&c, c.rejected);
	ck_assert_uint_eq(le16toh(c.answer.status), ESTALE);
	raw_send(&b, raw_append(&b, 0, 1));
	raw_until(&b, b.received == 2);
	ck_assert_uint_eq(rig->opened, 1);
	raw_close(&a);
	raw_close(&b);
	raw_close(&c);
}
END_TEST

/* Both connections exist before either sends HELLO: the older one is rejected. */
START_TEST(an_older_one_does_not)
{
	const uint32_t older = _i ? 5 : 4;
	struct raw a, b;

	rig_open(rig, "mock");
	raw_open(&a, rig, 0x77, older);
	raw_connect(&a);
	raw_until(&a, a.established);
	raw_open(&b, rig, 0x77, 5);
	raw_greet(&b);
	raw_send(&a, raw_hello(&a, rig->cred.uid));
	raw_until(&a, a.received);
	ck_assert_int_eq(raw_status(&a, 0), ESTALE);
	raw_send(&b, raw_append(&b, 0, 1));
	raw_until(&b, b.received == 2);
	ck_assert(!b.disconnected);
	raw_close(&a);
	raw_close(&b);
}
END_TEST

START_TEST(credentials_stay)
{
	struct raw a, b, c;

	rig_open(rig, "mock");
	raw_open(&a, rig, 0x77, 1);
	raw_open(&b, rig, 0x77, 2);
	raw_greet(&a);
	raw_connect(&b);
	raw_until(&b, b.established);
	raw_send(&b, raw_hello(&b, 0));
	raw_until(&b, b.disconnected);
	ck_assert_int_eq(raw_status(&b, 0), EPERM);
	ck_assert_uint_eq(rig_logged(rig, "it belongs to another client"), 1);
	ck_assert_uint_eq(sessions(), 1);
	ck_assert_uint_eq(rig->closed, 0);
	/* the owner reconnects with the next epoch */
	raw_send(&a, raw_append(&a, 0, 1));
	raw_until(&a, a.received == 2);
	ck_assert(!a.disconnected);
	raw_open(&c, rig, 0x77, 2);
	raw_greet(&c);
	raw_until(&a, a.disconnected);
	raw_close(&a);
	raw_close(&b);
	raw_close(&c);
}
END_TEST

/*
 * The groups of a session stay: the same user with another, more, or different groups cannot resume
 * it.
 */
START_TEST(groups_stay)
{
	struct raw a, b;

	rig_open(rig, "mock");
	rig->cred.ngroups = 2;
	rig->cred.groups[0] = 7;
	rig->cred.groups[1] = 8;
	raw_open(&a, rig, 0x77, 1);
	raw_greet(&a);
	switch (_i) {
	case 0:
		rig->cred.gid++;
		break;
	case 1:
		rig->cred.ngroups = 1;
		break;
	case 2:
		rig->cred.groups[1] = 9;
	}
	raw_open(&b, rig, 0x77, 2);
	raw_connect(&b);
	raw_until(&b, b.established);
	raw_send(&b, raw_hello(&b, rig->cred.uid));
	raw_until(&b, b.received);
	ck_assert_int_eq(raw_status(&b, 0), _i < 3 ? EPERM : 0);
	raw_close(&a);
	raw_close(&b);
}
END_TEST

static bool admits;

static int session_admit(void *arg, enum wire_role role, const char *peer,
			 const struct rpc_cred *cred)
{
	(void)arg;
	ck_assert_ptr_nonnull(peer);
	ck_assert_uint_eq(cred->uid, 1000);
	return role == WIRE_ROLE_MGR && !admits ? -EKEYREJECTED : 0;
}

/* Returns the status of HELLO on a connection to the session 0x77. */
static int greet_as(struct raw *raw, enum wire_role role, uint32_t epoch)
{
	raw_open(raw, rig, 0x77, epoch);
	raw->priv.role = htole16((uint16_t)role);
	raw_connect(raw);
	raw_until(raw, raw->established);
	raw_send(raw, raw_hello(raw, rig->cred.uid));
	raw_until(raw, raw->received);
	return raw_status(raw, 0);
}

/*
 * The number of a manager's session is not enough to resume it: the service checks the peer again,
 * and the role stays.
 */
START_TEST(a_manager_is_checked_again)
{
	struct raw first, other, client, back;

	rig_open(rig, "mock");
	rig->service.session_admit = session_admit;
	ck_assert_int_eq(greet_as(&first, WIRE_ROLE_MGR, 1), EKEYREJECTED);
	raw_close(&first);
	admits = true;
	ck_assert_int_eq(greet_as(&first, WIRE_ROLE_MGR, 2), 0);
	admits = false;
	ck_assert_int_eq(greet_as(&other, WIRE_ROLE_MGR, 3), EKEYREJECTED);
	ck_assert_int_eq(greet_as(&client, WIRE_ROLE_CLIENT, 4), EPERM);
	raw_send(&first, raw_append(&first, 0, 1));
	raw_until(&first, first.received == 2);
	ck_assert(!first.disconnected);
	admits = true;
	ck_assert_int_eq(greet_as(&back, WIRE_ROLE_MGR, 5), 0);
	ck_assert_uint_eq(rig->opened, 1);
	raw_until(&first, first.disconnected);
	raw_close(&first);
	raw_close(&other);
	raw_close(&client);
	raw_close(&back);
}
END_TEST

/* Broken connections with held requests are bounded in number. */
START_TEST(old_connections_are_bounded)
{
	struct raw raw;
	unsigned int i;

	rig_open(rig, "mock");
	rig->sattr.slots = 8;
	rig_server_close(rig);
	rig_server_open(rig);
	for (i = 0; i < 4; i++) {
		raw_open(&raw, rig, 0x77, i + 1);
		raw_greet(&raw);
		raw_send(&raw, raw_release(&raw, i, 1));
		raw_until(&raw, rig->nheld == i + 1);
		raw_close(&raw);
		rig_for_ms(rig, 2);
	}
	raw_open(&raw, rig, 0x77, 9);
	raw_connect(&raw);
	raw_until(&raw, raw.rejected);
	ck_assert_uint_eq(le16toh(raw.answer.status), EAGAIN);
	raw_close(&raw);
	rig_answer(rig);
	rig_for_ms(rig, 2);
	raw_open(&raw, rig, 0x77, 10);
	raw_greet(&raw);
	raw_close(&raw);
	while (rig->nheld)
		rig_answer(rig);
}
END_TEST

START_TEST(server_closes_with_requests_in_flight)
{
	struct rig_call c;

	start();
	rig_release(rig, &c, 5000);
	rig_until(rig, rig->nheld == 1);
	rig_server_close(rig);
	ck_assert_uint_eq(rig->closed, 0);
	ck_assert_uint_eq(rig->freed, 1);
	close_peer(true);
	ck_assert_int_eq(c.call.status, -ECANCELED);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("rpc_session");
	TCase *tc = tcase_create("sessions");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, the_kernel_knows_better);
	tcase_add_test(tc, bye_ends_it);
	tcase_add_test(tc, bye_may_be_unsure);
	tcase_add_test(tc, bye_knows_of_memory_that_went);
	tcase_add_test(tc, it_outlives_a_connection_for_its_ttl);
	tcase_add_test(tc, it_resumes);
	tcase_add_test(tc, idle_peer_reconnects);
	tcase_add_test(tc, features_of_both);
	tcase_add_test(tc, a_call_at_the_first_contact_goes_once);
	tcase_add_test(tc, no_second_life_before_the_end_of_the_first);
	tcase_add_test(tc, fenced);
	tcase_add_loop_test(tc, the_oldest_fence_is_forgotten, 0, 2);
	tcase_add_test(tc, fenced_before);
	tcase_add_test(tc, wrong_file_system);
	tcase_add_test(tc, refused_by_the_service);
	tcase_add_test(tc, too_many);
	tcase_add_test(tc, away_ones_make_room);
	tcase_add_test(tc, strangers_end_nobody);
	tcase_add_test(tc, strangers_have_the_places_of_who_is_away);
	tcase_add_test(tc, strangers_of_another_host_stay);
	tcase_add_test(tc, of_another_host_stays);
	tcase_add_test(tc, numbers_are_bounded);
	tcase_add_test(tc, a_host_ends_none_of_who_has_fewer);
	tcase_add_test(tc, a_host_has_so_many);
	tcase_add_test(tc, a_host_has_no_more);
	tcase_add_test(tc, a_newer_connection_replaces_the_older);
	tcase_add_loop_test(tc, an_older_one_does_not, 0, 2);
	tcase_add_test(tc, credentials_stay);
	tcase_add_loop_test(tc, groups_stay, 0, 4);
	tcase_add_test(tc, a_manager_is_checked_again);
	tcase_add_test(tc, old_connections_are_bounded);
	tcase_add_test(tc, server_closes_with_requests_in_flight);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
