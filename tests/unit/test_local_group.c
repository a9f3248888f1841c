/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_local_group.c - servers of one host that a client calls at once: which server is woken, by
 * which other one, and the effect if that one is stopped.  The test has one thread, and servers run
 * on command, so it is known which sleep.  tests/contract/group.c has the threads.
 */
#include <check.h>
#include <poll.h>

#include "common/util/clock.h"
#include "common/transport/local/shared/local_group.h"
#include "tests/run_suite.h"
#include "tests/stranger.h"
#include "common/transport/transport.h"

#define LEN 64u
#define RECVS 4u
#define PATIENCE_MS 20000u
#define SERVERS 3

#define until(turn, cond)                                                      \
	do {                                                                   \
		uint64_t stop_ = clock_after_ms(PATIENCE_MS);                  \
		while (!(cond)) {                                              \
			turn;                                                  \
			ck_assert_msg(clock_now() < stop_, "never: " #cond);   \
		}                                                              \
	} while (0)

static uint8_t buf[SERVERS][RECVS * LEN];

struct server {
	struct tp_cq *cq;
	struct tp_listener *listener;
	struct tp_ep *ep, *to; /* ep: the server's end; to: the client's end */
	struct tp_mr *mr;
};

static struct tp_dev *dev, *own;
static struct tp_cq *cq;
static struct server server[SERVERS];

static void take_events(struct server *s)
{
	struct tp_event ev;

	while (tp_cq_event(s->cq, &ev) == 1) {
		if (ev.type != TP_EV_CONNECT_REQUEST)
			continue;
		if (is_stranger(ev.req)) {
			tp_reject(ev.req, NULL, 0);
			continue;
		}
		ck_assert_int_eq(tp_ep_open(s->cq, NULL, &s->ep), 0);
		ck_assert_int_eq(tp_accept(s->ep, ev.req, NULL, 0), 0);
	}
}

/* Runs a server.  Returns the number of messages that it got. */
static int run(struct server *s)
{
	struct tp_wc wc;
	int n = 0;

	while (tp_cq_poll(s->cq, &wc, 1) == 1)
		n += wc.opcode == TP_RECV && wc.status == 0;
	take_events(s);
	return n;
}

/* Returns the number of events of one type at the client. */
static int run_client(enum tp_event_type type)
{
	struct tp_event ev;
	struct tp_wc wc;
	int n = 0;

	while (tp_cq_poll(cq, &wc, 1) == 1)
		;
	while (tp_cq_event(cq, &ev) == 1)
		n += ev.type == type;
	return n;
}

static void post_recv(struct server *s, uint8_t *mem)
{
	struct tp_recv_wr wr = { 0, { mem, LEN, s->mr->lkey } };

	ck_assert_int_eq(tp_post_recv(s->ep, &wr), 0);
}

static void server_open(struct server *s, uint8_t *mem)
{
	struct addr addr = { .scheme = "local", .host = "127.0.0.1" };
	struct tp_ep_attr attr = { .group = true };
	unsigned int i;
	int up = 0;

	*s = (struct server){ 0 };
	ck_assert_int_eq(tp_cq_open(own, 1024, &s->cq), 0);
	ck_assert_int_eq(tp_listen(s->cq, &addr, 8, &s->listener), 0);
	tp_listener_addr(s->listener, &addr);
	ck_assert_int_eq(
		tp_mr_reg(own, mem, RECVS * LEN, TP_LOCAL_WRITE, &s->mr), 0);
	ck_assert_int_eq(tp_ep_open(cq, &attr, &s->to), 0);
	ck_assert_int_eq(tp_connect(s->to, &addr, NULL, 0,
				    clock_after_ms(PATIENCE_MS)),
			 0);
	until(run(s), (up += run_client(TP_EV_ESTABLISHED)) == 1);
	for (i = 0; i < RECVS; i++)
		post_recv(s, mem + i * LEN);
}

static void setup(void)
{
	int i;

	ck_assert_int_eq(tp_dev_open("local", NULL, &dev), 0);
	ck_assert_int_eq(tp_dev_open("local", NULL, &own), 0);
	ck_assert_int_eq(tp_cq_open(dev, 1024, &cq), 0);
	for (i = 0; i < SERVERS; i++)
		server_open(&server[i], buf[i]);
}

static void teardown(void)
{
	int i;

	for (i = 0; i < SERVERS; i++) {
		tp_ep_close(server[i].to);
		if (server[i].ep)
			tp_ep_close(server[i].ep);
		tp_mr_dereg(server[i].mr);
		tp_unlisten(server[i].listener);
		tp_cq_close(server[i].cq);
	}
	tp_cq_close(cq);
	tp_dev_close(own);
	tp_dev_close(dev);
}

/* Returns whether the server is awake, or was woken since it went to sleep. */
static bool woken(struct server *s)
{
	return tp_cq_wait(s->cq, clock_now()) == 0;
}

static void all_asleep(void)
{
	int i;

	for (i = 0; i < SERVERS; i++)
		until(run(&server[i]), !woken(&server[i]));
}

/* Sends requests to the first n servers, server 0 first. */
static void ask_flags(int n, unsigned int flags)
{
	struct tp_mr *m;
	struct tp_sge sge = { buf[0], 8, 0 };
	struct tp_send_wr wr = {
		.opcode = TP_SEND, .flags = flags, .sgl = &sge, .nsge = 1
	};
	int i;

	ck_assert_int_eq(tp_mr_reg(dev, buf[0], 8, 0, &m), 0);
	sge.lkey = m->lkey;
	tp_cq_hold(cq);
	for (i = 0; i < n; i++)
		ck_assert_int_eq(tp_post_send(server[i].to, &wr), 0);
	tp_cq_release(cq);
	tp_mr_dereg(m);
}

static void ask(int n)
{
	ask_flags(n, 0);
}

static void all_asked(int from)
{
	int i;

	for (i = from; i < SERVERS; i++) {
		ck_assert(woken(&server[i]));
		ck_assert_int_eq(run(&server[i]), 1);
	}
}

/* The client wakes one server, which wakes the others. */
START_TEST(one_bell)
{
	all_asleep();
	ask(SERVERS);
	ck_assert(!woken(&server[1]));
	ck_assert(!woken(&server[2]));
	ck_assert(woken(&server[0]));
	ck_assert_int_eq(run(&server[0]), 1);
	all_asked(1);
}
END_TEST

/* More calls than the wake-up socket has room for. */
START_TEST(many_calls)
{
	int i, n;

	for (n = 0; n < 30 * (int)LOCAL_WAKEUPS_UNREAD; n++) {
		all_asleep();
		ask_flags(SERVERS, TP_SIGNALED);
		ck_assert(woken(&server[0]));
		ck_assert_int_eq(run(&server[0]), 1);
		all_asked(1);
		for (i = 0; i < SERVERS; i++)
			post_recv(&server[i], buf[i]);
		ck_assert_int_eq(run_client(TP_EV_DISCONNECTED), 0);
	}
}
END_TEST

/* A server without a request continues to sleep. */
START_TEST(not_asked)
{
	all_asleep();
	ask(2);
	ck_assert(woken(&server[0]));
	ck_assert(woken(&server[1]));
	ck_assert(!woken(&server[2]));
	ck_assert_int_eq(run(&server[0]) + run(&server[1]), 2);
}
END_TEST

/*
 * The server that should wake the others does nothing.  The client soon does it: in its next sleep,
 * if it had no processor during the first one.
 */
START_TEST(stands_still)
{
	all_asleep();
	ask(SERVERS);
	ck_assert(!woken(&server[1]));
	until(tp_cq_wait(cq, clock_after_ms(10 * LOCAL_RELAY_MS)),
	      woken(&server[1]));
	all_asked(1);
}
END_TEST

/* Sleeps of the client that end at once do not delay this. */
START_TEST(stands_still_while_we_wake)
{
	all_asleep();
	ask(SERVERS);
	until((tp_cq_wake(cq), tp_cq_wait(cq, CLOCK_NEVER)), woken(&server[1]));
	all_asked(1);
}
END_TEST

/* A client that never sleeps does it, too. */
START_TEST(stands_still_while_we_poll)
{
	all_asleep();
	ask(SERVERS);
	until(run_client(TP_EV_DISCONNECTED), woken(&server[1]));
	all_asked(1);
}
END_TEST

/* The same if the client sleeps on its own descriptor (tp_cq_arm()). */
START_TEST(stands_still_armed)
{
	all_asleep();
	ask(SERVERS);
	tp_cq_arm(cq);
	all_asked(1);
}
END_TEST

START_TEST(dies)
{
	int ends = 0;

	all_asleep();
	ask(SERVERS);
	tp_ep_close(server[0].ep);
	server[0].ep = NULL;
	ck_assert(!woken(&server[1]));
	until((void)0, (ends += run_client(TP_EV_DISCONNECTED)) == 1);
	all_asked(1);
}
END_TEST

/* The client's end of a connection is closed. */
START_TEST(left)
{
	struct tp_ep_attr attr = { .group = true };

	all_asleep();
	ask(SERVERS);
	tp_ep_close(server[0].to);
	ck_assert_int_eq(tp_ep_open(cq, &attr, &server[0].to), 0);
	all_asked(1);
}
END_TEST

static void answer_of(struct server *s)
{
	struct tp_sge sge = { s->mr->addr, 8, s->mr->lkey };
	struct tp_send_wr wr = { .opcode = TP_SEND, .sgl = &sge, .nsge = 1 };

	ck_assert_int_eq(tp_post_send(s->ep, &wr), 0);
}

static bool client_woken(void)
{
	struct pollfd pfd = { .fd = tp_cq_fd(cq), .events = POLLIN };

	return poll(&pfd, 1, 0) == 1;
}

static void client_sleeps(unsigned int joined)
{
	int i;

	do {
		run_client(TP_EV_DISCONNECTED);
		for (i = 0; i < SERVERS; i++)
			if (joined & 1u << i)
				tp_ep_join(server[i].to);
	} while (tp_cq_arm(cq) || client_woken());
}

/* The last of the joined servers wakes the client; a server that is not joined wakes it at once. */
START_TEST(last_answer)
{
	client_sleeps(7);
	answer_of(&server[2]);
	answer_of(&server[0]);
	ck_assert(!client_woken());
	answer_of(&server[1]);
	ck_assert(client_woken());
	client_sleeps(3);
	answer_of(&server[0]);
	ck_assert(!client_woken());
	answer_of(&server[2]);
	ck_assert(client_woken());
	client_sleeps(0);
	answer_of(&server[1]);
	ck_assert(client_woken());
}
END_TEST

int main(void)
{
	Suite *s = suite_create("local_group");
	TCase *tc = tcase_create("client");

	tcase_set_timeout(tc, 0);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, one_bell);
	tcase_add_test(tc, many_calls);
	tcase_add_test(tc, not_asked);
	tcase_add_test(tc, stands_still);
	tcase_add_test(tc, stands_still_while_we_wake);
	tcase_add_test(tc, stands_still_while_we_poll);
	tcase_add_test(tc, stands_still_armed);
	tcase_add_test(tc, dies);
	tcase_add_test(tc, left);
	tcase_add_test(tc, last_answer);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
