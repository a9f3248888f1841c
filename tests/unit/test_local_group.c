/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_local_group.c - servers of one host that a client asks at once: who is
 * woken, by whom, and what if that one stands still.  In one thread, so that
 * what sleeps is known; tests/contract/group.c has the threads.
 */
#include <check.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "local_rig.h"
#include "run_suite.h"
#include "stranger.h"

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

/* ---- a server, and the bare memory of a client ---- */

static struct local_rig rig;
static struct tp_mr *mr;
static struct raw raw;
static struct local_gong gong;
static struct local_page *page;

static void server_setup(void)
{
	struct local_fds give = LOCAL_NO_FDS;

	ck_assert_int_eq(local_rig_open(&rig), 0);
	ck_assert_int_eq(tp_mr_reg(rig.dev, buf[0], sizeof(buf[0]),
				   TP_LOCAL_WRITE, &mr),
			 0);
	ck_assert_int_eq(local_gong_open(&gong), 0);
	give.fd[LOCAL_FD_GONG] = gong.fd;
	give.fd[LOCAL_FD_PAGE] = local_page_create(&page);
	ck_assert_int_ge(give.fd[LOCAL_FD_PAGE], 0);
	ck_assert_int_eq(raw_give(&rig, &raw, mr, LEN, RECVS, &give), 0);
	close(give.fd[LOCAL_FD_PAGE]);
}

static void server_teardown(void)
{
	raw_close(&raw);
	close(gong.fd);
	local_page_unmap(page);
	tp_mr_dereg(mr);
	local_rig_close(&rig);
}

static void turn(void)
{
	local_rig_turn(&rig, mr, LEN, RECVS);
}

static void answer(void)
{
	struct tp_sge sge = { buf[0], 8, mr->lkey };
	struct tp_send_wr wr = { .opcode = TP_SEND, .sgl = &sge, .nsge = 1 };

	ck_assert_int_eq(tp_post_send(rig.ep, &wr), 0);
}

static bool heard(int fd)
{
	char c;

	return recv(fd, &c, 1, MSG_DONTWAIT) == 1;
}

/* The client counts: the last one rings, and only that one. */
START_TEST(counts)
{
	atomic_store(&page->missing, 3);
	while (atomic_load(&page->missing) > 1) {
		atomic_store(&raw.in.me->asleep, LOCAL_COUNTED);
		answer();
		ck_assert_uint_eq(atomic_load(&raw.in.me->asleep), 0);
		ck_assert(!heard(raw.fd));
	}
	answer(); /* it is awake */
	ck_assert_uint_eq(atomic_load(&page->missing), 1);
	atomic_store(&raw.in.me->asleep, LOCAL_COUNTED);
	answer();
	ck_assert_uint_eq(atomic_load(&page->missing), 0);
	ck_assert(heard(raw.fd));
	/* by itself, as if there were no group */
	atomic_store(&raw.in.me->asleep, 1);
	answer();
	ck_assert_uint_eq(atomic_load(&page->missing), 0);
	ck_assert(heard(raw.fd));
}
END_TEST

static void falls_asleep(void)
{
	until(turn(), (tp_cq_wait(rig.cq, clock_now()),
		       atomic_load(&raw.in.peer->asleep)));
}

static void ring(void)
{
	const uint64_t one = 1;

	ck_assert_int_eq(write(raw.bell, &one, sizeof(one)), sizeof(one));
}

/* Bell and gong end its sleep. */
START_TEST(wakes)
{
	falls_asleep();
	ring();
	until(turn(), !atomic_load(&raw.in.peer->asleep));
	falls_asleep();
	local_gong_strike(&gong);
	until(turn(), !atomic_load(&raw.in.peer->asleep));
	ck_assert_int_eq(rig.gone, 0);
}
END_TEST

/* Asked to, it strikes the gong, once: woken for it, or just before it sleeps. */
START_TEST(passes_on)
{
	int i;

	for (i = 0; i < 500; i++) {
		if (i % 2)
			falls_asleep();
		atomic_store(&raw.out.me->relay, 1);
		if (i % 2)
			ring();
		else
			ck_assert_int_eq(tp_cq_wait(rig.cq, clock_now()), 0);
		until(turn(), !atomic_load(&raw.out.me->relay));
		ck_assert(heard(gong.fd));
	}
}
END_TEST

/* What is in the gong is the client's to read, however much. */
START_TEST(never_reads)
{
	unsigned int i, n = 0;

	for (i = 0; i < 4 * LOCAL_STRIKES; i++) {
		atomic_store(&raw.out.me->relay, 1);
		until(turn(), !atomic_load(&raw.out.me->relay));
	}
	while (heard(gong.fd))
		n++;
	ck_assert_uint_eq(n, 4 * LOCAL_STRIKES);
}
END_TEST

static void strikes(void)
{
	atomic_store(&raw.out.me->relay, 1);
	until(turn(), !atomic_load(&raw.out.me->relay));
}

/* The client connects its gong to a socket of others: no word comes there. */
START_TEST(strikes_no_other)
{
	struct sockaddr *none = &(struct sockaddr){ .sa_family = AF_UNSPEC };
	struct local_gong other;
	int victim = socket(AF_UNIX, SOCK_DGRAM, 0);

	ck_assert_int_eq(local_gong_open(&other), 0);
	close(other.fd); /* a name that is free */
	ck_assert_int_eq(
		bind(victim, (struct sockaddr *)&other.name, other.len), 0);
	ck_assert_int_eq(
		connect(gong.fd, (struct sockaddr *)&other.name, other.len), 0);
	strikes();
	ck_assert(!heard(victim));
	ck_assert_int_eq(connect(gong.fd, none, sizeof(*none)), 0);
	strikes();
	ck_assert(heard(gong.fd));
	ck_assert_int_eq(rig.gone, 0);
	close(victim);
}
END_TEST

static int bound(int type, const char *name, size_t len)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, type, 0);

	ck_assert_int_ge(fd, 0);
	memcpy(sun.sun_path, name, len);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&sun,
			      (socklen_t)(sizeof(sa_family_t) + len)),
			 0);
	return fd;
}

static int other_socket(int kind)
{
	char name[32];
	int len = snprintf(name, sizeof(name), "%cno-gong-%d", kind ? 0 : '.',
			   getpid());
	int fd;

	switch (kind) {
	case 0: /* which is found by a path */
		fd = bound(SOCK_DGRAM, name, (size_t)len);
		unlink(name);
		return fd;
	case 1: /* by no name */
		return socket(AF_UNIX, SOCK_DGRAM, 0);
	case 2:
		return bound(SOCK_STREAM, name, (size_t)len);
	default:
		return socket(AF_INET, SOCK_DGRAM, 0);
	}
}

/* A gong is a datagram socket with an abstract name. */
START_TEST(no_gong)
{
	struct local_gong g = { -1 };
	int fd = other_socket(_i);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(local_gong_take(&g, fd), -EPROTO);
	ck_assert_int_eq(g.fd, -1);
	close(fd);
}
END_TEST

/* ---- a client, and servers that run when they are told to ---- */

struct server {
	struct tp_cq *cq;
	struct tp_listener *listener;
	struct tp_ep *ep, *to; /* to: the client's end */
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

/* Messages that it got. */
static int run(struct server *s)
{
	struct tp_wc wc;
	int n = 0;

	while (tp_cq_poll(s->cq, &wc, 1) == 1)
		n += wc.opcode == TP_RECV && wc.status == 0;
	take_events(s);
	return n;
}

/* Events of one type at the client. */
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

static void client_setup(void)
{
	int i;

	ck_assert_int_eq(tp_dev_open("local", NULL, &dev), 0);
	ck_assert_int_eq(tp_dev_open("local", NULL, &own), 0);
	ck_assert_int_eq(tp_cq_open(dev, 1024, &cq), 0);
	for (i = 0; i < SERVERS; i++)
		server_open(&server[i], buf[i]);
}

static void client_teardown(void)
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

/* Asleep or, since it was put to sleep, woken. */
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

/* The first n are asked, server 0 first. */
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

/* One is woken by the client, the others by that one. */
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

/* More calls than the gong has room for. */
START_TEST(many_calls)
{
	int i, n;

	for (n = 0; n < 30 * (int)LOCAL_STRIKES; n++) {
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

/* Who was not asked sleeps on. */
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
 * The one that is to wake the others does nothing: the client does, soon; in its
 * next sleep where the processor was somebody else's for all of the first.
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

/* Each sleep of the client is over at once: that gives it no more time. */
START_TEST(stands_still_while_we_wake)
{
	all_asleep();
	ask(SERVERS);
	until((tp_cq_wake(cq), tp_cq_wait(cq, CLOCK_NEVER)), woken(&server[1]));
	all_asked(1);
}
END_TEST

/* Nor does a client that never sleeps. */
START_TEST(stands_still_while_we_poll)
{
	all_asleep();
	ask(SERVERS);
	until(run_client(TP_EV_DISCONNECTED), woken(&server[1]));
	all_asked(1);
}
END_TEST

/* The same where the sleep is somebody else's. */
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

/* The client's end of it is closed. */
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

/* The last of those that are waited for wakes the client, or any other. */
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
	TCase *called = tcase_create("called"),
	      *caller = tcase_create("caller");

	tcase_set_timeout(called, 0);
	tcase_add_checked_fixture(called, server_setup, server_teardown);
	tcase_add_test(called, counts);
	tcase_add_test(called, wakes);
	tcase_add_test(called, passes_on);
	tcase_add_test(called, never_reads);
	tcase_add_test(called, strikes_no_other);
	tcase_add_loop_test(called, no_gong, 0, 4);
	suite_add_tcase(s, called);
	tcase_set_timeout(caller, 0);
	tcase_add_checked_fixture(caller, client_setup, client_teardown);
	tcase_add_test(caller, one_bell);
	tcase_add_test(caller, many_calls);
	tcase_add_test(caller, not_asked);
	tcase_add_test(caller, stands_still);
	tcase_add_test(caller, stands_still_while_we_wake);
	tcase_add_test(caller, stands_still_while_we_poll);
	tcase_add_test(caller, stands_still_armed);
	tcase_add_test(caller, dies);
	tcase_add_test(caller, left);
	tcase_add_test(caller, last_answer);
	suite_add_tcase(s, caller);
	return run_suite(s);
}
