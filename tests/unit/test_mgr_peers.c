/* SPDX-License-Identifier: BSD-2-Clause */
/* test_mgr_peers.c - messages between managers: lanes, limits, and rejected senders. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/run_suite.h"
#include "tests/unit/key_rig.h"
#include "tests/unit/peers_rig.h"

#define KEPT 256u

/* The messages that node 2 received. */
static struct {
	unsigned int n;
	uint64_t stamp[KEPT];
	size_t len[KEPT];
	size_t bytes;
	bool storing; /* it sends the results of entries later */
	unsigned int results; /* that node 1 received */
} got;

static struct peers_rig rig;
static struct key_rig file;

static bool on_receive(void *arg, uint64_t from, const void *data, size_t len)
{
	struct peer_envelope env;
	struct raft_message msg;

	ck_assert_int_eq(peer_message_decode(data, len, &env, &msg), 0);
	ck_assert_uint_eq(from, env.from);
	if (msg.type == RAFT_IO_APPEND_ENTRIES_RESULT) {
		ck_assert_uint_eq(from, 2);
		got.results++;
		return false;
	}
	ck_assert_uint_eq(from, 1);
	ck_assert_uint_lt(got.n, KEPT);
	peer_message_free(&msg);
	got.stamp[got.n] = env.stamp;
	got.len[got.n++] = len;
	got.bytes += len;
	return got.storing;
}

static void send_result(void)
{
	struct raft_message msg = { .type = RAFT_IO_APPEND_ENTRIES_RESULT };
	struct peer_envelope env = { 5, 2, 1, 1 };
	void *data;
	size_t len;

	ck_assert_int_eq(peer_message_encode(&env, &msg, &data, &len), 0);
	ck_assert(peer_message_is_result(data, len));
	ck_assert_int_eq(peers_send(rig.nodes[1].peers, 1, data, len), 0);
	free(data);
}

/* The results that node 1 received as requests. */
static uint64_t requests(void)
{
	struct rpc_server_stats stats;

	rpc_server_stats(rig.nodes[0].server, &stats);
	return stats.requests;
}

/* The stamp is the number of the message.  If bytes is 0, it is a heartbeat. */
static int send_append(uint64_t stamp, size_t bytes)
{
	struct raft_entry entry = { .term = 1, .type = RAFT_COMMAND };
	struct raft_message msg = { .type = RAFT_IO_APPEND_ENTRIES };
	struct peer_envelope env = { 5, 1, 2, stamp };
	void *data;
	size_t len;
	int rc;

	entry.buf.base = calloc(1, bytes + 1);
	entry.buf.len = bytes;
	msg.append_entries.entries = &entry;
	msg.append_entries.n_entries = bytes ? 1 : 0;
	ck_assert_int_eq(peer_message_encode(&env, &msg, &data, &len), 0);
	free(entry.buf.base);
	ck_assert(peer_message_has_entries(data, len) == (bytes > 0));
	rc = peers_send(rig.nodes[0].peers, 2, data, len);
	free(data);
	return rc;
}

static void setup(void)
{
	memset(&got, 0, sizeof(got));
	memset(&rig, 0, sizeof(rig));
	rig.receive = on_receive;
	rig.timeout_ms = 20000;
}

static void teardown(void)
{
	peers_rig_close(&rig);
	if (rig.ring[0])
		key_rig_close(&file);
}

static void begin(const char *scheme)
{
	peers_rig_open(&rig, scheme);
}

static void begin_connected(const char *scheme)
{
	begin(scheme);
	ck_assert_int_eq(send_append(0, 0), 0);
	ck_assert_int_eq(send_append(0, 8), 0);
	peers_rig_until(&rig, got.n == 2);
	memset(&got, 0, sizeof(got));
}

static const char *const schemes[] = { "tcp", "local" };

/* ---- lanes ---- */

START_TEST(test_order)
{
	static const size_t sizes[] = { 8, 100000, 9000, 1, 16000, 1 << 20, 5 };

	begin_connected(schemes[_i]);
	for (uint64_t i = 0; i < 21; i++)
		ck_assert_int_eq(send_append(i, sizes[i % 7]), 0);
	peers_rig_until(&rig, got.n == 21);
	for (uint64_t i = 0; i < 21; i++)
		ck_assert_uint_eq(got.stamp[i], i);
}
END_TEST

START_TEST(test_largest)
{
	begin(schemes[_i]);
	ck_assert_int_eq(send_append(1, PEER_DATA_MAX), 0);
	peers_rig_until(&rig, got.n == 1);
	ck_assert_uint_gt(got.bytes, PEER_DATA_MAX);
}
END_TEST

START_TEST(test_heartbeat_overtakes)
{
	begin_connected(schemes[_i]);
	for (uint64_t i = 0; i < 8; i++)
		ck_assert_int_eq(send_append(i, 1 << 20), 0);
	ck_assert_int_eq(send_append(100, 0), 0);
	peers_rig_until(&rig, got.n == 9);
	ck_assert_uint_ne(got.stamp[8], 100);
}
END_TEST

START_TEST(test_full)
{
	unsigned int n = 0;

	begin_connected(schemes[_i]);
	while (!send_append(n, 1 << 20))
		n++;
	ck_assert_uint_eq(n, PEERS_ENTRIES_MAX / (1 << 20) - 1);
	ck_assert_int_eq(send_append(n, 1 << 20), -ENOBUFS);
	ck_assert_int_eq(send_append(100, 0), 0);
	peers_rig_until(&rig, got.n == n + 1);
	ck_assert_int_eq(send_append(n, 1 << 20), 0);
	peers_rig_until(&rig, got.n == n + 2);
}
END_TEST

/* A new leader asks for votes, and then sends heartbeats and entries, before it is connected. */
START_TEST(test_first_messages)
{
	begin(schemes[_i]);
	for (uint64_t i = 0; i < 20; i++)
		ck_assert_int_eq(send_append(i, 8), 0);
	for (uint64_t i = 20; i < 30; i++)
		ck_assert_int_eq(send_append(i, 0), 0);
	peers_rig_until(&rig, got.n == 30);
}
END_TEST

/* Messages wait for an unavailable manager, but only for a limited time. */
START_TEST(test_down)
{
	rig.timeout_ms = 300;
	begin(schemes[_i]);
	peers_rig_server_close(&rig.nodes[1]);
	for (unsigned int i = 0; i < 100; i++)
		ck_assert_int_eq(send_append(1, 0), 0);
	peers_rig_for_ms(&rig, 600);
	peers_rig_server_open(&rig, &rig.nodes[1]);
	peers_rig_for_ms(&rig, 1500);
	ck_assert_uint_eq(got.n, 0);
	ck_assert_int_eq(send_append(3, 0), 0);
	peers_rig_until(&rig, got.n == 1);
	ck_assert_uint_eq(got.stamp[0], 3);
}
END_TEST

/* The queue for a stopped manager is bounded, and empty after the deadline. */
START_TEST(test_stopped)
{
	unsigned int n = 0;

	rig.timeout_ms = 500;
	begin_connected(schemes[_i]);
	rig.nodes[1].stopped = true;
	while (n < 100000 && !send_append(n, 0))
		n++;
	ck_assert_uint_lt(n, PEERS_OTHERS_MAX / 48);
	ck_assert_int_eq(send_append(0, 1 << 20), 0);
	peers_rig_for_ms(&rig, 1000);
	rig.nodes[1].stopped = false;
	got.n = 0;
	peers_rig_for_ms(&rig, 300);
	memset(&got, 0, sizeof(got));
	do {
		(void)send_append(5, 1 << 20);
		peers_rig_for_ms(&rig, 20);
	} while (!got.n);
}
END_TEST

START_TEST(test_connections_are_cut)
{
	begin_connected(schemes[_i]);
	for (unsigned int i = 0; i < 8; i++)
		ck_assert_int_eq(send_append(i, i % 2 ? 8 : 1 << 20), 0);
	for (unsigned int i = 0; i < 8; i++) {
		peers_rig_cut(&rig);
		peers_rig_for_ms(&rig, 30);
	}
	peers_rig_until(&rig, got.n >= 8);
}
END_TEST

/* ---- results ---- */

START_TEST(test_result_in_reply)
{
	begin_connected(schemes[_i]);
	got.storing = true;
	for (unsigned int i = 1; i <= 3; i++) {
		ck_assert_int_eq(send_append(i, 8), 0);
		peers_rig_until(&rig, got.n == i);
		send_result();
		peers_rig_until(&rig, got.results == i);
	}
	ck_assert_uint_eq(requests(), 0);
}
END_TEST

/* The replies without a result let the lane carry further messages. */
START_TEST(test_open_requests)
{
	begin_connected(schemes[_i]);
	got.storing = true;
	for (unsigned int i = 0; i < 20; i++)
		ck_assert_int_eq(send_append(i, 8), 0);
	ck_assert_int_eq(send_append(20, 1 << 20), 0);
	ck_assert_int_eq(send_append(21, 8), 0);
	peers_rig_until(&rig, got.n == 22);
	for (unsigned int i = 0; i < 22; i++) {
		ck_assert_uint_eq(got.stamp[i], i);
		send_result();
		peers_rig_until(&rig, got.results == i + 1);
	}
	ck_assert_uint_eq(requests(), 22 - 4);
}
END_TEST

START_TEST(test_result_of_no_request)
{
	begin_connected(schemes[_i]);
	ck_assert_int_eq(send_append(1, 8), 0);
	peers_rig_until(&rig, got.n == 1);
	send_result();
	peers_rig_until(&rig, got.results == 1);
	ck_assert_uint_eq(requests(), 1);
}
END_TEST

START_TEST(test_result_is_late)
{
	rig.timeout_ms = 1500;
	begin_connected(schemes[_i]);
	got.storing = true;
	ck_assert_int_eq(send_append(1, 8), 0);
	peers_rig_until(&rig, got.n == 1);
	peers_rig_for_ms(&rig, 1600);
	send_result();
	peers_rig_until(&rig, got.results == 1);
	ck_assert_uint_eq(requests(), 1);
}
END_TEST

/* A server that does not know results in replies, nor that much inline data. */
START_TEST(test_older_server)
{
	rig.older = true;
	begin_connected(schemes[_i]);
	got.storing = true;
	for (unsigned int i = 1; i <= 2; i++) {
		ck_assert_int_eq(send_append(i, i * 8000), 0);
		peers_rig_until(&rig, got.n == i);
		send_result();
		peers_rig_until(&rig, got.results == i);
		ck_assert_uint_eq(requests(), i);
	}
}
END_TEST

/* A manager leaves the group, or the server of the other one stops, while a request is open. */
START_TEST(test_open_request_ends)
{
	struct peers_manager third = { .id = 3 };

	begin_connected(schemes[_i]);
	got.storing = true;
	ck_assert_int_eq(send_append(1, 8), 0);
	peers_rig_until(&rig, got.n == 1);
	third.addr = rig.nodes[2].addr;
	ck_assert_int_eq(peers_set(rig.nodes[1].peers, &third, 1), 0);
	peers_rig_server_close(&rig.nodes[1]);
	peers_rig_server_open(&rig, &rig.nodes[1]);
	ck_assert_int_eq(send_append(2, 8), 0);
	peers_rig_until(&rig, got.n >= 2);
	peers_rig_server_close(&rig.nodes[1]);
}
END_TEST

/* ---- refusals ---- */

static const char refusal[] = "refuses messages of this manager: ";

static void check_refused(int status)
{
	char line[128];

	snprintf(line, sizeof(line), "%s%s", refusal, strerror(status));
	ck_assert_int_eq(send_append(1, 0), 0);
	peers_rig_until(&rig, strstr(rig.text, line));
	ck_assert_int_eq(send_append(1, 0), -ECONNREFUSED);
	for (unsigned int i = 0; i < 50; i++) {
		(void)send_append(1, 0);
		peers_rig_for_ms(&rig, 20);
	}
	ck_assert_uint_eq(peers_rig_logged(&rig, refusal), 1);
	ck_assert_uint_eq(got.n, 0);
}

START_TEST(test_foreign_group)
{
	rig.nodes[1].group = 6;
	begin(schemes[_i]);
	check_refused(ESTALE);
}
END_TEST

START_TEST(test_another_member)
{
	rig.nodes[1].id = 7;
	begin(schemes[_i]);
	check_refused(ENXIO);
}
END_TEST

START_TEST(test_unknown_sender)
{
	rig.nodes[1].lacks = 1;
	begin(schemes[_i]);
	check_refused(EPERM);
}
END_TEST

static void open_keys(const char *a, const char *b)
{
	key_rig_open(&file);
	rig.ring[0] = key_rig_ring(&file, a);
	rig.ring[1] = key_rig_ring(&file, b);
}

START_TEST(test_same_key)
{
	open_keys(KEY_A "\n", KEY_A "\n");
	begin(schemes[_i]);
	ck_assert_int_eq(send_append(1, 0), 0);
	ck_assert_int_eq(send_append(2, 1 << 20), 0);
	peers_rig_until(&rig, got.n == 2);
}
END_TEST

START_TEST(test_foreign_key)
{
	open_keys(KEY_A "\n", KEY_B "\n");
	begin(schemes[_i]);
	check_refused(EKEYREJECTED);
}
END_TEST

struct asked {
	bool done;
	int status;
};

static void on_asked(struct rpc_call *call)
{
	struct asked *asked = call->arg;

	asked->done = true;
	asked->status = call->status;
}

/* Returns the reply to a peer with this role that sends a message in the name of manager 1. */
static int ask_as(enum wire_role role)
{
	struct wire_raft body = { .group = htole64(5),
				  .from = htole64(1),
				  .to = htole64(2),
				  .len = htole32(8),
				  .data_len = htole32(8) };
	struct rpc_cred cred = { .name = "stranger" };
	struct rpc_peer_attr attr = { .addr = rig.nodes[1].addr,
				      .name = "manager 2",
				      .role = role,
				      .session = 77,
				      .cred = &cred };
	uint64_t buf[32], data = 0;
	struct rpc_peer *peer;
	struct asked asked = { 0 };
	struct rpc_call call = { .msg = buf,
				 .deadline = clock_after_ms(10000),
				 .done = on_asked,
				 .arg = &asked };
	struct wire_out out;

	wire_begin(&out, buf, sizeof(buf));
	wire_put(&out, &body, sizeof(body));
	wire_put(&out, &data, sizeof(data));
	call.msg_len = (size_t)wire_end(&out, WIRE_RAFT, 0, 0);
	ck_assert_int_eq(rpc_peer_open(rig.nodes[0].ctx, &attr, &peer), 0);
	rpc_call_start(peer, &call);
	peers_rig_until(&rig, asked.done);
	rpc_peer_close(peer, true);
	return asked.status;
}

START_TEST(test_clients)
{
	begin(schemes[_i]);
	ck_assert_int_eq(ask_as(WIRE_ROLE_CLIENT), -EPERM);
	ck_assert_int_eq(ask_as(WIRE_ROLE_IOD), -EPERM);
	ck_assert_uint_eq(got.n, 0);
}
END_TEST

/* With a key, a program without it is not accepted as a manager. */
START_TEST(test_without_the_key)
{
	open_keys(KEY_A "\n", KEY_A "\n");
	begin(schemes[_i]);
	ck_assert_int_eq(ask_as(WIRE_ROLE_CLIENT), -EPERM);
	ck_assert_int_eq(ask_as(WIRE_ROLE_MGR), -EKEYREJECTED);
	ck_assert_uint_eq(got.n, 0);
}
END_TEST

/* Without a key, the address decides. */
START_TEST(test_addresses)
{
	begin("tcp");
	ck_assert(peers_admit(rig.nodes[1].peers, "tcp 127.0.0.1:40000"));
	ck_assert(!peers_admit(rig.nodes[1].peers, "tcp 192.0.2.7:40000"));
}
END_TEST

static void fence_session(void *arg, struct rpc_session *session)
{
	*(uint64_t *)arg = rpc_session_info(session)->id;
}

/* A session that the other manager always rejects is replaced. */
START_TEST(test_ended_session)
{
	uint64_t id = 0;

	begin(schemes[_i]);
	ck_assert_int_eq(send_append(1, 0), 0);
	peers_rig_until(&rig, got.n == 1);
	rpc_server_each(rig.nodes[1].server, fence_session, &id);
	rpc_server_fence(rig.nodes[1].server, id);
	while (got.n < 2) {
		(void)send_append(2, 0);
		peers_rig_for_ms(&rig, 20);
	}
}
END_TEST

START_TEST(test_bad_lists)
{
	struct peers_manager managers[2] = { { .id = 2 }, { .id = 2 } };
	struct peers *peers;

	begin("tcp");
	peers = rig.nodes[0].peers;
	managers[0].addr = managers[1].addr = rig.nodes[1].addr;
	ck_assert_int_eq(peers_set(peers, managers, 2), -EINVAL);
	managers[1].id = 0;
	ck_assert_int_eq(peers_set(peers, managers, 2), -EINVAL);
	ck_assert_int_eq(peers_send(rig.nodes[0].peers, 9, "x", 1), -ENOENT);
	ck_assert_int_eq(peers_send(rig.nodes[0].peers, 2, "x", 0), -EMSGSIZE);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("mgr_peers");
	TCase *tc = tcase_create("mgr_peers");

	tcase_set_timeout(tc, 200);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, test_order, 0, 2);
	tcase_add_loop_test(tc, test_largest, 0, 2);
	tcase_add_loop_test(tc, test_heartbeat_overtakes, 0, 2);
	tcase_add_loop_test(tc, test_full, 0, 2);
	tcase_add_loop_test(tc, test_first_messages, 0, 2);
	tcase_add_loop_test(tc, test_down, 0, 2);
	tcase_add_loop_test(tc, test_stopped, 0, 2);
	tcase_add_loop_test(tc, test_connections_are_cut, 0, 2);
	tcase_add_loop_test(tc, test_result_in_reply, 0, 2);
	tcase_add_loop_test(tc, test_open_requests, 0, 2);
	tcase_add_loop_test(tc, test_result_of_no_request, 0, 2);
	tcase_add_loop_test(tc, test_result_is_late, 0, 2);
	tcase_add_loop_test(tc, test_older_server, 0, 2);
	tcase_add_loop_test(tc, test_open_request_ends, 0, 2);
	tcase_add_loop_test(tc, test_foreign_group, 0, 2);
	tcase_add_loop_test(tc, test_another_member, 0, 2);
	tcase_add_loop_test(tc, test_unknown_sender, 0, 2);
	tcase_add_loop_test(tc, test_same_key, 0, 2);
	tcase_add_loop_test(tc, test_foreign_key, 0, 2);
	tcase_add_loop_test(tc, test_clients, 0, 2);
	tcase_add_loop_test(tc, test_without_the_key, 0, 2);
	tcase_add_test(tc, test_addresses);
	tcase_add_loop_test(tc, test_ended_session, 0, 2);
	tcase_add_test(tc, test_bad_lists);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
