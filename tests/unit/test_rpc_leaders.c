/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_rpc_leaders.c - a client of several managers, of which at most one leads.  The others reject
 * it, and some name the leader.
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/comm/call/peer_int.h"
#include "tests/unit/rpc_rig.h"
#include "tests/run_suite.h"
#include "tests/unit/slow_names.h"

#define NODES 3
#define LONG_MS 50000u

struct node {
	struct rig rig; /* must be first: freed with it */
	int status; /* status of HELLO; 0: it leads */
	int names; /* the node that it names, or -1 */
	bool stopped; /* its process does nothing */
	unsigned int hellos;
};

static struct node *node[NODES];
static struct rig *client; /* the rig of node[0] */

static int admit(void *arg, enum wire_role role, const char *peer,
		 const struct rpc_cred *cred)
{
	struct node *n = arg;

	n->hellos++;
	return n->status;
}

static void find_leader(void *arg, struct rpc_leader *leader)
{
	const struct node *n = arg;

	if (n->names < 0)
		return;
	leader->index = (uint32_t)n->names;
	addr_format(&node[n->names]->rig.addr, leader->uri,
		    sizeof(leader->uri));
}

/* leader -1: none leads. */
static void set_leader(int leader, bool named)
{
	for (int i = 0; i < NODES; i++) {
		node[i]->status = i == leader ? 0 : -WIRE_ENOTLEADER;
		node[i]->names = named ? leader : -1;
	}
}

static void setup(void)
{
	slow_names_hold();
	for (int i = 0; i < NODES; i++) {
		node[i] = calloc(1, sizeof(*node[i]));
		rig_open(&node[i]->rig, "tcp");
		rig_server_close(&node[i]->rig);
		node[i]->rig.service.session_admit = admit;
		node[i]->rig.service.find_leader = find_leader;
		node[i]->rig.sattr.boot = 1000u * (unsigned int)i;
		rig_server_open(&node[i]->rig);
	}
	client = &node[0]->rig;
	set_leader(-1, false);
}

static void teardown(void)
{
	for (int i = NODES - 1; i >= 0; i--)
		rig_close(&node[i]->rig);
}

static void turn(void)
{
	for (int i = 0; i < NODES; i++)
		if (!node[i]->stopped)
			rpc_ctx_progress(node[i]->rig.sctx, 0);
	rpc_ctx_progress(client->cctx, clock_now() + 100000);
}

#define until(cond)                                                            \
	do {                                                                   \
		uint64_t end_ = clock_after_ms(RIG_PATIENCE_MS);               \
		while (!(cond)) {                                              \
			turn();                                                \
			ck_assert_msg(clock_now() < end_, "never: %s\n%s",     \
				      #cond, client->text);                    \
		}                                                              \
	} while (0)

static void open_peer_with(const struct addr *list, unsigned int n,
			   bool impatient, unsigned int more_rounds)
{
	struct rpc_peer_attr attr = {
		.addr = list[0],
		.managers = list,
		.nmanagers = n,
		.name = "mgr",
		.role = WIRE_ROLE_CLIENT,
		.server = WIRE_ROLE_MGR,
		.fsid = RIG_FSID,
		.session = 0x2222,
		.cred = &client->cred,
		.impatient = impatient,
		.more_rounds = more_rounds,
	};

	rpc_peer_close(client->peer, false);
	ck_assert_int_eq(rpc_peer_open(client->cctx, &attr, &client->peer), 0);
}

static void open_peer(const struct addr *list, unsigned int n)
{
	open_peer_with(list, n, false, 0);
}

static void open_nodes_with(unsigned int n, bool impatient,
			    unsigned int more_rounds)
{
	struct addr list[NODES];

	for (unsigned int i = 0; i < n; i++)
		list[i] = node[i]->rig.addr;
	open_peer_with(list, n, impatient, more_rounds);
	/* even on a busy machine, the order in which they are tried must not change */
	client->peer->leaders->try_ms = LONG_MS;
}

/* Opens the nodes in this order. */
static void open_nodes(unsigned int n)
{
	open_nodes_with(n, false, 0);
}

static int append(unsigned int ms)
{
	struct rig_call c;

	rig_append(client, &c, 1, ms);
	until(c.finished);
	return c.call.status;
}

/* Checks the number of APPENDs that each has executed. */
static void check_counters(uint64_t a, uint64_t b, uint64_t c)
{
	ck_assert_uint_eq(node[0]->rig.counter, a);
	ck_assert_uint_eq(node[1]->rig.counter, b);
	ck_assert_uint_eq(node[2]->rig.counter, c);
}

START_TEST(the_first_one_leads)
{
	set_leader(0, true);
	open_nodes(NODES);
	ck_assert_int_eq(append(LONG_MS), 0);
	ck_assert_int_eq(append(LONG_MS), 0);
	check_counters(2, 0, 0);
	ck_assert_uint_eq(node[0]->hellos, 1);
	ck_assert_uint_eq(node[1]->hellos + node[2]->hellos, 0);
	ck_assert_uint_eq(node[0]->rig.opened, 1);
}
END_TEST

START_TEST(a_refusal_leads_to_the_leader)
{
	set_leader(2, true);
	open_nodes(NODES);
	ck_assert_int_eq(append(LONG_MS), 0);
	check_counters(0, 0, 1);
	ck_assert_uint_eq(node[0]->hellos, 1);
	ck_assert_uint_eq(node[1]->hellos, 0);
	ck_assert_uint_eq(node[2]->hellos, 1);
}
END_TEST

START_TEST(without_names_all_are_asked)
{
	set_leader(2, false);
	open_nodes(NODES);
	ck_assert_int_eq(append(LONG_MS), 0);
	check_counters(0, 0, 1);
	for (int i = 0; i < NODES; i++)
		ck_assert_uint_eq(node[i]->hellos, 1);
	ck_assert_uint_eq(rig_logged(client, "cannot connect"), 0);
}
END_TEST

START_TEST(a_list_of_one_is_enough)
{
	set_leader(1, true);
	open_nodes(1);
	ck_assert_int_eq(append(LONG_MS), 0);
	check_counters(0, 1, 0);
}
END_TEST

/* All say that they do not lead, and the call ends at its deadline. */
START_TEST(nobody_leads)
{
	struct rig_call c;

	open_nodes(NODES);
	rig_append(client, &c, 1, LONG_MS);
	until(node[0]->hellos > 3 && rig_logged(client, "cannot connect"));
	ck_assert_int_eq(append(1), -ETIMEDOUT);
	for (int i = 0; i < NODES; i++)
		ck_assert_uint_eq(node[i]->rig.opened, 0);
	ck_assert_uint_eq(rig_logged(client, "cannot connect"), 1);
	ck_assert_uint_ge(rig_logged(client, "none of its managers leads"), 1);
	rpc_call_cancel(&c.call);
}
END_TEST

START_TEST(one_leads_later)
{
	struct rig_call c;

	open_nodes(NODES);
	rig_append(client, &c, 1, LONG_MS);
	until(node[0]->hellos > 2 && node[1]->hellos > 2 &&
	      node[2]->hellos > 2);
	ck_assert(!c.finished);
	set_leader(1, true);
	until(c.finished);
	ck_assert_int_eq(c.call.status, 0);
	check_counters(0, 1, 0);
}
END_TEST

/* Each round gets enough time, also on a busy machine. */
static int finish_call(const struct rig_call *c)
{
	uint64_t end = clock_after_ms(RIG_PATIENCE_MS);

	while (!c->finished && clock_now() < end) {
		client->peer->leaders->try_ms = LONG_MS;
		turn();
	}
	ck_assert(c->finished);
	return c->call.status;
}

/* Each call makes its own rounds. */
START_TEST(an_impatient_client_makes_few_rounds)
{
	unsigned int rounds = 1 + (unsigned int)_i;
	struct rig_call c;

	open_nodes_with(NODES, true, (unsigned int)_i);
	for (unsigned int call = 1; call <= 2; call++) {
		rig_append(client, &c, 1, LONG_MS);
		ck_assert_int_eq(finish_call(&c), -ENOTCONN);
		for (int i = 0; i < NODES; i++)
			ck_assert_uint_eq(node[i]->hellos, call * rounds);
	}
}
END_TEST

START_TEST(one_leads_in_the_second_round)
{
	struct rig_call c;

	open_nodes_with(NODES, true, 1);
	rig_append(client, &c, 1, LONG_MS);
	until(node[2]->hellos == 1);
	set_leader(1, false);
	ck_assert_int_eq(finish_call(&c), 0);
	check_counters(0, 1, 0);
}
END_TEST

START_TEST(they_name_each_other)
{
	node[0]->names = 1;
	node[1]->names = 2;
	node[2]->names = 0;
	open_nodes(NODES);
	ck_assert_int_eq(append(300), -ETIMEDOUT);
	set_leader(2, false);
	ck_assert_int_eq(append(LONG_MS), 0);
	check_counters(0, 0, 1);
}
END_TEST

/* A server whose kernel accepts connections, but which never replies. */
static int mute_server(struct addr *addr)
{
	struct sockaddr_in sin = { .sin_family = AF_INET,
				   .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t len = sizeof(sin);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_int_eq(bind(fd, (struct sockaddr *)&sin, len), 0);
	ck_assert_int_eq(listen(fd, 64), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&sin, &len), 0);
	*addr = node[0]->rig.addr;
	addr->port = ntohs(sin.sin_port);
	return fd;
}

/* One is down, one does not resolve, one rejects and names the leader. */
START_TEST(others_are_not_waited_for)
{
	struct addr list[4];
	int mute = mute_server(&list[0]);

	list[1] = list[2] = node[0]->rig.addr;
	strcpy(list[1].host, "server.test");
	list[3] = node[1]->rig.addr;
	set_leader(1, _i);
	open_peer(list, 4);
	ck_assert_int_eq(append(LONG_MS), 0);
	check_counters(0, 1, 0);
	slow_names_go(NULL);
	slow_names_until_over();
	close(mute);
}
END_TEST

/* The log names the unknown host only if no other manager leads. */
START_TEST(an_unknown_host_among_others)
{
	struct addr list[2] = { node[0]->rig.addr, node[1]->rig.addr };
	struct rig_call c;

	client->log.level = LOG_LV_WARN;
	strcpy(list[0].host, "server.test");
	slow_names_go(NULL);
	set_leader(_i ? 1 : -1, false);
	open_peer(list, 2);
	client->peer->leaders->try_ms = LONG_MS;
	rig_append(client, &c, 1, LONG_MS);
	until(node[1]->hellos > 1 || c.finished);
	ck_assert_uint_eq(c.finished, (unsigned int)_i);
	ck_assert_uint_eq(rig_logged(client, "server.test\": "), !_i);
	rpc_call_cancel(&c.call);
}
END_TEST

/* Only one manager leads, and its name takes long to resolve. */
START_TEST(a_slow_name_is_found)
{
	struct addr list[2] = { node[0]->rig.addr, node[1]->rig.addr };
	struct rig_call c;

	strcpy(list[1].host, "server.test");
	set_leader(1, false);
	open_peer(list, 2);
	rig_append(client, &c, 1, LONG_MS);
	until(slow_names_asked() && node[0]->hellos > 2);
	ck_assert(!c.finished);
	slow_names_go("127.0.0.1");
	until(c.finished);
	ck_assert_int_eq(c.call.status, 0);
	check_counters(0, 1, 0);
}
END_TEST

/* The old leader became a follower by a restart. */
static void move_leader(int from, int to)
{
	rig_server_close(&node[from]->rig);
	set_leader(to, true);
	rig_server_open(&node[from]->rig);
}

START_TEST(the_leader_changes)
{
	struct rig_call held, queued;
	uint64_t total = 0;
	int leader = 0;

	set_leader(0, true);
	open_nodes(NODES);
	ck_assert_int_eq(append(LONG_MS), 0);
	for (int i = 0; i < 7; i++) {
		int next = (leader + 1) % NODES;

		rig_release(client, &held, LONG_MS);
		until(node[leader]->rig.nheld == 1);
		rig_append(client, &queued, 1, LONG_MS);
		move_leader(leader, next);
		until(queued.finished && node[next]->rig.nheld == 1);
		ck_assert_int_eq(queued.call.status, 0);
		ck_assert(!held.finished);
		rig_answer(&node[next]->rig);
		until(held.finished);
		ck_assert_int_eq(held.call.status, 0);
		ck_assert_uint_eq(held.times, 1);
		leader = next;
	}
	for (int i = 0; i < NODES; i++)
		total += node[i]->rig.counter;
	ck_assert_uint_ge(total, 8);
	ck_assert_uint_ge(rig_logged(client, " leads"), 8);
}
END_TEST

/* Node 0 leads, and stops.  Only its silence, after a long time, can end the connection. */
static void stop_leader(struct rig_call *c)
{
	set_leader(0, true);
	open_nodes(NODES);
	ck_assert_int_eq(append(LONG_MS), 0);
	client->peer->silence.answer_ms = LONG_MS;
	for (int i = 0; i < NODES; i++)
		node[i]->hellos = 0;
	node[0]->stopped = true;
	rig_append(client, c, 1, LONG_MS);
}

static void until_asked(unsigned int rounds)
{
	until(node[1]->hellos >= rounds && node[2]->hellos >= rounds);
}

START_TEST(another_leader_ends_the_connection_to_a_silent_one)
{
	struct rig_call c;

	stop_leader(&c);
	until_asked(2);
	ck_assert(!c.finished);
	set_leader(2, _i);
	until(c.finished);
	ck_assert_int_eq(c.call.status, 0);
	check_counters(1, 0, 1);
	until(!client->peer->scout.peer);
	ck_assert(!client->peer->scout.timer.armed);
	ck_assert_uint_eq(node[2]->rig.closed, 1);
}
END_TEST

/* The others know no other leader, or name node 0. */
START_TEST(a_slow_leader_keeps_its_connection)
{
	struct rig_call c;
	uint32_t epoch;

	stop_leader(&c);
	if (_i)
		set_leader(-1, false);
	epoch = client->peer->epoch;
	until_asked(3);
	ck_assert(!c.finished);
	set_leader(0, true);
	node[0]->stopped = false;
	until(c.finished && !client->peer->scout.peer);
	ck_assert_int_eq(c.call.status, 0);
	ck_assert_uint_eq(client->peer->epoch, epoch);
	check_counters(2, 0, 0);
	ck_assert_uint_eq(node[0]->hellos, 0);
	ck_assert(!client->peer->scout.timer.armed);
}
END_TEST

/* A named node does not lead. */
START_TEST(a_false_name_ends_no_connection)
{
	struct rig_call c;
	uint32_t epoch;

	stop_leader(&c);
	node[1]->names = 2;
	node[2]->names = 1;
	epoch = client->peer->epoch;
	until_asked(3);
	node[0]->stopped = false;
	until(c.finished);
	ck_assert_uint_eq(client->peer->epoch, epoch);
}
END_TEST

/* So it is asked later the next time, until it is fast again. */
START_TEST(a_slow_leader_gets_more_time)
{
	const struct silence *s;
	struct rig_call c;

	stop_leader(&c);
	s = &client->peer->silence;
	until_asked(1);
	node[0]->stopped = false;
	until(c.finished && !s->pinging);
	ck_assert_uint_ge(s->scout_ms, SILENCE_SCOUT_PINGS * SILENCE_SCOUT_MS);
	until(append(LONG_MS) == 0 && s->scout_ms == SILENCE_SCOUT_MS);
}
END_TEST

START_TEST(closed_while_others_are_asked)
{
	struct rig_call c;

	stop_leader(&c);
	until(client->peer->scout.ping.p.peer);
	rpc_peer_close(client->peer, false);
	ck_assert_int_eq(c.call.status, -ECANCELED);
	node[0]->stopped = false;
	client->peer = rig_peer_open(client);
}
END_TEST

START_TEST(only_a_choice_lets_others_be_asked)
{
	struct rig_call c;

	set_leader(0, true);
	open_nodes(1);
	ck_assert_int_eq(append(LONG_MS), 0);
	node[0]->stopped = true;
	rig_append(client, &c, 1, LONG_MS);
	until(client->peer->silence.pinging);
	ck_assert(!client->peer->scout.timer.armed);
	node[0]->stopped = false;
	until(c.finished);
}
END_TEST

/* Another manager may still accept the client. */
START_TEST(one_refuses_for_good)
{
	set_leader(2, false);
	node[0]->status = -EKEYREJECTED;
	open_nodes(NODES);
	ck_assert_int_eq(append(LONG_MS), 0);
	check_counters(0, 0, 1);
	ck_assert_uint_eq(rig_logged(client, "refused: "), 1);
}
END_TEST

START_TEST(one_refuses_for_good_and_none_leads)
{
	struct rig_call c;

	node[2]->status = -EKEYREJECTED;
	open_nodes(NODES);
	rig_append(client, &c, 1, LONG_MS);
	until(node[2]->hellos > 3);
	ck_assert(!c.finished);
	set_leader(0, false);
	until(c.finished);
	ck_assert_int_eq(c.call.status, 0);
}
END_TEST

START_TEST(all_refuse_for_good)
{
	for (int i = 0; i < NODES; i++)
		node[i]->status = -EKEYREJECTED;
	open_nodes(NODES);
	ck_assert_int_eq(append(LONG_MS), -EKEYREJECTED);
	for (int i = 0; i < NODES; i++)
		ck_assert_uint_eq(node[i]->hellos, 1);
}
END_TEST

/* The leader knows that the session has ended: no other manager is asked. */
START_TEST(the_session_has_ended)
{
	set_leader(1, true);
	node[1]->status = -ESTALE;
	open_nodes(NODES);
	ck_assert_int_eq(append(LONG_MS), -ESTALE);
	ck_assert_uint_eq(node[2]->hellos, 0);
}
END_TEST

/* A program that does not know several managers is told to retry. */
START_TEST(an_older_client_gets_eagain)
{
	struct rig_call c;

	ck_assert_ptr_nonnull(client->peer);
	rig_append(client, &c, 1, LONG_MS);
	until(node[0]->hellos > 3);
	ck_assert(!c.finished);
	ck_assert_uint_eq(rig_logged(client, "takes no clients yet"), 1);
	set_leader(0, true);
	until(c.finished);
	ck_assert_int_eq(c.call.status, 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("rpc_leaders");
	TCase *t = tcase_create("rpc_leaders");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_set_timeout(t, 120);
	tcase_add_test(t, the_first_one_leads);
	tcase_add_test(t, a_refusal_leads_to_the_leader);
	tcase_add_test(t, without_names_all_are_asked);
	tcase_add_test(t, a_list_of_one_is_enough);
	tcase_add_test(t, nobody_leads);
	tcase_add_test(t, one_leads_later);
	tcase_add_loop_test(t, an_impatient_client_makes_few_rounds, 0, 3);
	tcase_add_test(t, one_leads_in_the_second_round);
	tcase_add_test(t, they_name_each_other);
	tcase_add_loop_test(t, others_are_not_waited_for, 0, 2);
	tcase_add_loop_test(t, an_unknown_host_among_others, 0, 2);
	tcase_add_test(t, a_slow_name_is_found);
	tcase_add_test(t, the_leader_changes);
	tcase_add_loop_test(t,
			    another_leader_ends_the_connection_to_a_silent_one,
			    0, 2);
	tcase_add_loop_test(t, a_slow_leader_keeps_its_connection, 0, 2);
	tcase_add_test(t, a_false_name_ends_no_connection);
	tcase_add_test(t, a_slow_leader_gets_more_time);
	tcase_add_test(t, closed_while_others_are_asked);
	tcase_add_test(t, only_a_choice_lets_others_be_asked);
	tcase_add_test(t, one_refuses_for_good);
	tcase_add_test(t, one_refuses_for_good_and_none_leads);
	tcase_add_test(t, all_refuse_for_good);
	tcase_add_test(t, the_session_has_ended);
	tcase_add_test(t, an_older_client_gets_eagain);
	suite_add_tcase(s, t);
	return run_suite(s);
}
