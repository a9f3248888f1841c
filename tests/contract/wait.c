/* SPDX-License-Identifier: BSD-2-Clause */
/* wait.c - sleeping for a completion queue, and waking: no wake-up is lost. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include "tests/contract/contract.h"

static uint64_t patience(void)
{
	return clock_after_ms(PATIENCE_MS);
}

/* Without an event, the wait ends at its deadline and not much earlier. */
START_TEST(deadline)
{
	uint64_t at = clock_after_ms(60);
	int rc, early = 0;

	while ((rc = tp_cq_wait(world.a.cq, at)) == 0)
		ck_assert_int_lt(early++, 100);
	ck_assert_int_eq(rc, -ETIMEDOUT);
	ck_assert_uint_ge(clock_now(), at);
	rc = tp_cq_wait(world.a.cq, at); /* a deadline in the past */
	ck_assert(rc == 0 || rc == -ETIMEDOUT);
}
END_TEST

/* Posts n small messages from a to b, with receives for them. */
static void with_messages(int n)
{
	struct link *l = link_open(&world, NULL);
	struct mem *out = mem_new(&world.a, 64, 0);
	struct mem *in = mem_new(&world.b, 64, TP_LOCAL_WRITE);
	struct tp_sge sge = sge_of(out, 0, 64);
	struct tp_send_wr wr = wr_send(1, &sge);
	int i;

	for (i = 0; i < n; i++) {
		side_recv(l->b, i, in, 0, 64);
		ck_ok(tp_post_send(l->a, &wr));
	}
}

/* A wait alone sends the posted requests. */
START_TEST(wait_flushes)
{
	struct tp_wc wc;

	with_messages(1);
	tp_cq_wait(world.a.cq, clock_now());
	while (tp_cq_poll(world.b.cq, &wc, 1) == 0)
		ck_assert_int_ne(tp_cq_wait(world.b.cq, patience()),
				 -ETIMEDOUT);
	ck_assert_int_eq(wc.opcode, TP_RECV);
}
END_TEST

START_TEST(arm_flushes)
{
	struct tp_wc wc;

	with_messages(1);
	tp_cq_arm(world.a.cq);
	while (tp_cq_poll(world.b.cq, &wc, 1) == 0)
		ck_assert_int_ne(tp_cq_wait(world.b.cq, patience()),
				 -ETIMEDOUT);
}
END_TEST

/* Messages have arrived but are not polled: neither wait nor arm permits sleep. */
START_TEST(never_sleeps_on_work)
{
	struct tp_wc wc;
	int i;

	with_messages(20);
	for (i = 0; i < 20; i++)
		side_pump(&world.a);
	for (i = 0; i < 20; i++) {
		do {
			ck_assert_int_ne(tp_cq_wait(world.b.cq, patience()),
					 -ETIMEDOUT);
		} while (tp_cq_poll(world.b.cq, &wc, 1) == 0);
		ck_assert_uint_eq(wc.wr_id, i);
	}
}
END_TEST

START_TEST(event_is_work)
{
	struct link *l = link_idle(&world, NULL);
	uint64_t give_up = patience();
	struct tp_event ev;

	ck_ok(tp_connect(l->a, &world.addr, NULL, 0, patience()));
	while (tp_cq_event(world.b.cq, &ev) == 0) {
		ck_assert_uint_lt(clock_now(), give_up);
		tp_cq_wait(world.a.cq, clock_now());
		side_pump(&world.a);
		tp_cq_wait(world.b.cq, clock_after_ms(100));
		tp_cq_poll(world.b.cq, &(struct tp_wc){ 0 }, 1);
	}
	ck_assert_int_eq(ev.type, TP_EV_CONNECT_REQUEST);
	tp_reject(ev.req, NULL, 0);
}
END_TEST

START_TEST(wake_before_wait)
{
	int i;

	for (i = 0; i < 20; i++) {
		tp_cq_wake(world.a.cq);
		if (i & 1)
			side_pump(&world.a);
		ck_ok(tp_cq_wait(world.a.cq, patience()));
	}
	/* Two wakes count as one; the next wait sleeps again. */
	tp_cq_wake(world.a.cq);
	tp_cq_wake(world.a.cq);
	ck_ok(tp_cq_wait(world.a.cq, patience()));
	while ((i = tp_cq_wait(world.a.cq, clock_after_ms(20))) == 0)
		;
	ck_assert_int_eq(i, -ETIMEDOUT);
}
END_TEST

struct waker {
	struct tp_cq *cq;
	int rounds;
	unsigned int pause_us;
	int *turn; /* the thread wakes when it is even, and then makes it odd */
};

static void *waker_run(void *arg)
{
	struct waker *w = arg;
	int i;

	for (i = 0; i < w->rounds; i++) {
		while (__atomic_load_n(w->turn, __ATOMIC_ACQUIRE) & 1)
			usleep(10);
		usleep(w->pause_us);
		__atomic_add_fetch(w->turn, 1, __ATOMIC_RELEASE);
		tp_cq_wake(w->cq);
	}
	return NULL;
}

/* Wakes during the begin of a sleep (no pause), or during the sleep. */
START_TEST(wake_from_thread)
{
	int turn = 0, rounds = _i ? 20 : 1000, i;
	struct waker w = { world.a.cq, rounds, _i ? 3000 : 0, &turn };
	uint64_t give_up = patience();
	pthread_t thread;
	int late = 0;

	ck_ok(pthread_create(&thread, NULL, waker_run, &w));
	for (i = 0; i < rounds; i++) {
		while (!(__atomic_load_n(&turn, __ATOMIC_ACQUIRE) & 1))
			if (tp_cq_wait(world.a.cq, give_up) == -ETIMEDOUT) {
				late++;
				break;
			}
		while (!(__atomic_load_n(&turn, __ATOMIC_ACQUIRE) & 1))
			usleep(100);
		__atomic_add_fetch(&turn, 1, __ATOMIC_RELEASE);
	}
	pthread_join(thread, NULL);
	ck_assert_int_eq(late, 0);
}
END_TEST

static int fd_ready(struct tp_cq *cq, int ms)
{
	struct pollfd pfd = { .fd = tp_cq_fd(cq), .events = POLLIN };

	return poll(&pfd, 1, ms);
}

/* Polls and arms until the descriptor is quiet.  Returns false if it never is. */
static bool quiet(struct side *s)
{
	int i;

	for (i = 0; i < 1000; i++) {
		side_pump(s);
		if (tp_cq_arm(s->cq) == 0 && fd_ready(s->cq, 2) == 0)
			return true;
	}
	return false;
}

START_TEST(fd_is_quiet_when_idle)
{
	link_works(&world, link_open(&world, NULL));
	ck_assert_int_ge(tp_cq_fd(world.a.cq), 0);
	ck_assert(quiet(&world.a));
	ck_assert(quiet(&world.b));
}
END_TEST

/*
 * If b is armed, waits for its descriptor; then polls b.  Returns whether it is armed again, which
 * it is not if work has arrived meanwhile.
 */
static bool b_moves(bool armed)
{
	if (armed)
		ck_assert_int_eq(fd_ready(world.b.cq, PATIENCE_MS), 1);
	side_pump(&world.b);
	return tp_cq_arm(world.b.cq) == 0;
}

START_TEST(fd_tells_of_message)
{
	struct link *l = link_open(&world, NULL);
	struct mem *out = mem_new(&world.a, 64, 0);
	struct mem *in = mem_new(&world.b, 64, TP_LOCAL_WRITE);
	struct tp_sge sge = sge_of(out, 0, 64);
	struct tp_send_wr wr = wr_send(1, &sge);
	struct tp_wc wc;
	bool armed;
	int i;

	for (i = 0; i < 30; i++) {
		side_recv(l->b, i, in, 0, 64);
		armed = quiet(&world.b);
		ck_assert(armed);
		ck_ok(tp_post_send(l->a, &wr));
		expect_silence(&world.b, l->b);
		do {
			side_pump(&world.a);
			armed = b_moves(armed);
		} while (!side_find_wc(&world.b, l->b, &wc));
		ck_assert_uint_eq(wc.wr_id, i);
	}
}
END_TEST

/* b's descriptor becomes readable while a is polled, in as many steps as necessary. */
static void fd_ready_of_b(void)
{
	uint64_t give_up = patience();

	do {
		ck_assert_uint_lt(clock_now(), give_up);
		side_pump(&world.a);
	} while (fd_ready(world.b.cq, 10) != 1);
}

START_TEST(fd_tells_of_events)
{
	struct link *l = link_idle(&world, NULL);
	struct tp_event ev;
	bool armed = quiet(&world.b);

	ck_assert(armed);
	ck_ok(tp_connect(l->a, &world.addr, NULL, 0, patience()));
	do {
		if (armed)
			fd_ready_of_b();
		armed = b_moves(false);
	} while (!world.b.nev);
	ck_ok(tp_accept(l->b, expect_req(&world), NULL, 0));
	expect_ev(&world, &world.a, l->a, TP_EV_ESTABLISHED);
	expect_ev(&world, &world.b, l->b, TP_EV_ESTABLISHED);
	armed = quiet(&world.b);
	ck_assert(armed);
	tp_ep_close(l->a);
	l->a = NULL;
	do {
		armed = b_moves(armed);
	} while (!side_find_ev(&world.b, l->b, &ev));
	ck_assert_int_eq(ev.type, TP_EV_DISCONNECTED);
}
END_TEST

START_TEST(fd_tells_of_wake)
{
	int i;

	for (i = 0; i < 10; i++) {
		ck_assert(quiet(&world.a));
		tp_cq_wake(world.a.cq);
		ck_assert_int_eq(fd_ready(world.a.cq, PATIENCE_MS), 1);
		tp_cq_wait(world.a.cq, clock_now());
	}
}
END_TEST

/* After a short poll, arm or the descriptor reports the remaining work. */
START_TEST(arm_sees_rest)
{
	struct tp_wc wc;
	int i;

	with_messages(10);
	for (i = 0; i < 10; i++)
		side_pump(&world.a);
	for (i = 0; i < 10; i++) {
		do {
			if (tp_cq_arm(world.b.cq) == 0)
				ck_assert_int_eq(
					fd_ready(world.b.cq, PATIENCE_MS), 1);
		} while (tp_cq_poll(world.b.cq, &wc, 1) == 0);
		ck_assert_uint_eq(wc.wr_id, i);
	}
}
END_TEST

TCase *case_wait(void)
{
	TCase *tc = contract_case("wait");

	tcase_add_test(tc, deadline);
	tcase_add_test(tc, wait_flushes);
	tcase_add_test(tc, arm_flushes);
	tcase_add_test(tc, never_sleeps_on_work);
	tcase_add_test(tc, event_is_work);
	tcase_add_test(tc, wake_before_wait);
	tcase_add_loop_test(tc, wake_from_thread, 0, 2);
	tcase_add_test(tc, fd_is_quiet_when_idle);
	tcase_add_test(tc, fd_tells_of_message);
	tcase_add_test(tc, fd_tells_of_events);
	tcase_add_test(tc, fd_tells_of_wake);
	tcase_add_test(tc, arm_sees_rest);
	return tc;
}
