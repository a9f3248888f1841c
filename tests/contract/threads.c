/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * threads.c - one completion queue for each thread, connections passed between threads,
 * registrations in any thread.  Mainly for ThreadSanitizer.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/contract/contract.h"
#include "tests/contract/worker.h"

#define ALL                                                                    \
	(TP_LOCAL_WRITE | TP_REMOTE_READ | TP_REMOTE_WRITE | TP_REMOTE_ATOMIC)

struct tp_ep *connect_echo(struct echo *e, const struct tp_ep_attr *attr)
{
	struct link *l = calloc(1, sizeof(*l));

	ck_assert_ptr_nonnull(l);
	ck_ok(tp_ep_open(world.a.cq, attr, &l->a));
	l->world = &world;
	LIST_INSERT_HEAD(&world.links, l, link);
	ck_ok(tp_connect(l->a, &world.addr, NULL, 0,
			 clock_after_ms(PATIENCE_MS)));
	ck_ok(echo_start(e, world.b.dev, expect_req(&world)));
	expect_ev(&world, &world.a, l->a, TP_EV_ESTABLISHED);
	return l->a;
}

void close_links(void)
{
	while (!LIST_EMPTY(&world.links))
		link_close(LIST_FIRST(&world.links));
}

static void round_trip(struct tp_ep *ep, struct mem *out, struct mem *in,
		       uint64_t seed)
{
	struct tp_sge sge = sge_of(out, 0, ECHO_LEN);
	struct tp_send_wr wr = wr_send(1, &sge);

	mem_fill(out, seed);
	side_recv(ep, 2, in, 0, ECHO_LEN);
	wr.flags = seed % 16 ? 0 : TP_SIGNALED;
	ck_ok(tp_post_send(ep, &wr));
	if (wr.flags)
		expect_wc(&world, &world.a, ep, 1, TP_SEND, 0);
	expect_wc(&world, &world.a, ep, 2, TP_RECV, 0);
	mem_check(in, 0, ECHO_LEN, seed, 0);
}

/* Requests at one listener, each accepted on the queue of another thread. */
START_TEST(accept_elsewhere)
{
	static struct echo echo[4];
	struct mem *out = mem_new(&world.a, ECHO_LEN, 0);
	struct mem *in = mem_new(&world.a, ECHO_LEN, TP_LOCAL_WRITE);
	struct tp_ep_attr none = { 0 };
	struct tp_ep *ep[4];
	int i, round;

	for (i = 0; i < 4; i++)
		ep[i] = connect_echo(&echo[i], &none);
	for (round = 0; round < 100; round++)
		for (i = 0; i < 4; i++)
			round_trip(ep[i], out, in, round * 4 + i);
	close_links();
	for (i = 0; i < 4; i++) {
		ck_ok(echo_join(&echo[i]));
		ck_assert_uint_eq(echo[i].served, 100);
	}
}
END_TEST

/* Registers, checks and ends several registrations. */
static int churn(void *arg)
{
	static const unsigned int rights[] = { 0, TP_LOCAL_WRITE, ALL };
	struct tp_dev *dev = arg;
	struct tp_mr *mr[20];
	char page[256];
	int i, rc = 0, n;

	for (n = 0; n < 20 && !rc; n++)
		rc = tp_mr_reg(dev, page + n, 100, rights[n % 3], &mr[n]);
	if (rc)
		n--;
	for (i = 0; i < n; i++) {
		if (!rc && (mr[i]->addr != page + i || mr[i]->len != 100))
			rc = -EBADMSG;
		tp_mr_dereg(mr[i]);
	}
	return rc;
}

START_TEST(registration_during_traffic)
{
	struct link *l = link_open(&world, NULL);
	struct mem *m = mem_new(&world.a, 300000, ALL);
	struct mem *there = mem_new(&world.b, 300000, ALL);
	struct tp_sge sge = sge_of(m, 0, 300000);
	struct tp_send_wr wr;
	struct looper loop[3];
	int i;

	mem_fill(m, 1);
	ck_ok(looper_start(&loop[0], churn, world.a.dev));
	ck_ok(looper_start(&loop[1], churn, world.b.dev));
	ck_ok(looper_start(&loop[2], churn, world.b.dev));
	for (i = 0; i < 100; i++) {
		wr = wr_rdma(i % 2 ? TP_READ : TP_WRITE, i, &sge, there, 0);
		ck_ok(tp_post_send(l->a, &wr));
		expect_wc(&world, &world.a, l->a, i, wr.opcode, 0);
		link_works(&world, l);
	}
	for (i = 0; i < 3; i++)
		ck_ok(looper_stop(&loop[i]));
	mem_check(m, 0, m->len, 1, 0);
	mem_check(there, 0, there->len, 1, 0);
}
END_TEST

/* Polls b until it is stopped; keeps nothing. */
static int drain(void *arg)
{
	struct side *s = arg;
	struct tp_wc wc[16];

	tp_cq_wait(s->cq, clock_after_ms(1));
	return tp_cq_poll(s->cq, wc, 16) < 0 ? -EIO : 0;
}

enum { PIECE = 128 << 10, PIECES = 60 };

/* a writes PIECES times to one piece at b, while the thread of b runs. */
static void flood(struct link *l, const struct mem *m, const struct mem *there)
{
	struct tp_sge sge = sge_of(m, 0, PIECE);
	struct tp_send_wr wr = wr_rdma(TP_WRITE, 1, &sge, there, 0);
	int i;

	for (i = 0; i < PIECES; i++) {
		wr.flags = i + 1 < PIECES ? 0 : TP_SIGNALED;
		ck_ok(tp_post_send(l->a, &wr));
	}
}

/* Waits until the flood has ended, with or without a rejection. */
static void flood_ends(struct link *l)
{
	uint64_t give_up = clock_after_ms(PATIENCE_MS);
	struct tp_event ev;
	struct tp_wc wc;

	while (!side_find_ev(&world.a, l->a, &ev) &&
	       !side_find_wc(&world.a, l->a, &wc)) {
		ck_assert_uint_lt(clock_now(), give_up);
		if (!side_pump(&world.a))
			tp_cq_wait(world.a.cq, clock_after_ms(1));
	}
}

/*
 * One thread deregisters memory while another one receives into it.  After tp_mr_dereg(), the
 * memory belongs to the caller and does not change.  The piece is small, so that it is cleared
 * before a late transfer could end.
 */
static void dereg_round(const struct mem *m, int pumps)
{
	struct mem *there = mem_new(&world.b, PIECE, TP_REMOTE_WRITE);
	struct link *l = link_open(&world, NULL);
	struct looper loop;
	int i;

	flood(l, m, there);
	ck_ok(looper_start(&loop, drain, &world.b));
	for (i = 0; i < pumps; i++)
		side_pump(&world.a);
	tp_mr_dereg(there->mr);
	memset(there->p, 0, PIECE);
	there->mr = NULL;
	flood_ends(l);
	ck_ok(looper_stop(&loop));
	mem_check_zero(there);
	link_close(l);
}

START_TEST(dereg_under_writes)
{
	struct mem *m = mem_new(&world.a, PIECE, 0);
	int i;

	memset(m->p, 0xff, PIECE);
	for (i = 0; i < (int)contract_scaled(100); i++)
		dereg_round(m, 1 + i % 10);
}
END_TEST

struct caller {
	pthread_t thread;
	struct side *side;
	struct tp_ep *ep;
	struct tp_send_wr *wr;
	unsigned int rounds, done;
	int error;
};

/* Runs the chain wr repeatedly. */
static void *caller_run(void *arg)
{
	struct caller *c = arg;
	uint64_t give_up;
	struct tp_wc wc;

	while (!c->error && c->done < c->rounds) {
		give_up = clock_after_ms(PATIENCE_MS);
		c->error = tp_post_send(c->ep, c->wr);
		while (!c->error && tp_cq_poll(c->side->cq, &wc, 1) == 0)
			if (tp_cq_wait(c->side->cq, give_up) == -ETIMEDOUT)
				c->error = -ETIME;
		if (!c->error)
			c->error = wc.status;
		c->done++;
	}
	return NULL;
}

enum { CALLS = 300, ADDS = 100 };

/* Builds a chain of ADDS additions of 1 to `there`, with one signaled. */
static void prepare(struct caller *c, struct world *w, struct tp_send_wr *wr,
		    struct tp_sge *sge, const struct mem *there)
{
	int i;

	*sge = sge_of(mem_new(&w->a, 8, TP_LOCAL_WRITE), 0, 8);
	for (i = 0; i < ADDS; i++) {
		wr[i] = wr_rdma(TP_FETCH_ADD, 1, sge, there, 0);
		wr[i].compare_add = 1;
		wr[i].flags = i + 1 < ADDS ? 0 : TP_SIGNALED;
		wr[i].next = i + 1 < ADDS ? &wr[i + 1] : NULL;
	}
	*c = (struct caller){
		.side = &w->a,
		.ep = link_open(w, NULL)->a,
		.wr = wr,
		.rounds = CALLS,
	};
}

/* w gets a side a of its own; its side b is a second queue on b's device. */
static struct tp_cq *second_open(struct world *w)
{
	struct addr any = { .host = "127.0.0.1" };
	struct tp_cq *own;

	world_open(w, contract_provider(), 1024);
	own = w->b.cq;
	tp_unlisten(w->listener);
	ck_ok(tp_cq_open(world.b.dev, 1024, &w->b.cq));
	ck_ok(tp_listen(w->b.cq, &any, 8, &w->listener));
	tp_listener_addr(w->listener, &w->addr);
	return own;
}

static void second_close(struct world *w, struct tp_cq *own)
{
	while (!LIST_EMPTY(&w->links))
		link_close(LIST_FIRST(&w->links));
	tp_unlisten(w->listener);
	w->listener = NULL;
	tp_cq_close(w->b.cq);
	w->b.cq = own;
	world_close(w);
}

/*
 * Four threads: two targets on one device, each with its own queue, and two callers that add to one
 * word through different targets.
 */
START_TEST(atomics_of_two_targets)
{
	static struct world second;
	struct world *w[2] = { &world, &second };
	struct mem *there = mem_new(&world.b, 8, ALL);
	struct tp_cq *own = second_open(&second);
	struct tp_send_wr wr[2][ADDS];
	struct caller caller[2];
	struct looper target[2];
	struct tp_sge sge[2];
	int i;

	for (i = 0; i < 2; i++)
		prepare(&caller[i], w[i], wr[i], &sge[i], there);
	for (i = 0; i < 2; i++) {
		ck_ok(looper_start(&target[i], drain, &w[i]->b));
		ck_ok(pthread_create(&caller[i].thread, NULL, caller_run,
				     &caller[i]));
	}
	for (i = 0; i < 2; i++)
		pthread_join(caller[i].thread, NULL);
	for (i = 0; i < 2; i++)
		ck_ok(looper_stop(&target[i]));
	for (i = 0; i < 2; i++) {
		ck_ok(caller[i].error);
		ck_assert_uint_eq(caller[i].done, CALLS);
	}
	ck_assert_uint_eq(*(uint64_t *)(void *)there->p, 2 * CALLS * ADDS);
	second_close(&second, own);
}
END_TEST

/* Opens a device, a queue and registrations, in several threads concurrently. */
static int device_life(void *arg)
{
	struct tp_dev_attr attr = { 0 };
	struct tp_listener *listener;
	struct tp_dev *dev;
	struct tp_cq *cq;
	int rc;

	rc = tp_dev_open(arg, &attr, &dev);
	if (rc)
		return rc;
	rc = churn(dev);
	if (!rc)
		rc = tp_cq_open(dev, 64, &cq);
	if (!rc) {
		rc = tp_listen(cq, &(struct addr){ .host = "127.0.0.1" }, 4,
			       &listener);
		if (!rc)
			tp_unlisten(listener);
		tp_cq_close(cq);
	}
	tp_dev_close(dev);
	return rc;
}

START_TEST(devices_in_parallel)
{
	char *name = strdup(contract_provider());
	struct looper loop[3];
	struct link *l = link_open(&world, NULL);
	int i;

	for (i = 0; i < 3; i++)
		ck_ok(looper_start(&loop[i], device_life, name));
	for (i = 0; i < 50; i++)
		link_works(&world, l);
	for (i = 0; i < 3; i++)
		ck_ok(looper_stop(&loop[i]));
	free(name);
}
END_TEST

static int waking(void *arg)
{
	tp_cq_wake(arg);
	return 0;
}

/* Wakes from several threads do not disturb traffic. */
START_TEST(wakes_during_traffic)
{
	struct link *l = link_open(&world, NULL);
	struct looper loop[2];
	int i;

	ck_ok(looper_start(&loop[0], waking, world.a.cq));
	ck_ok(looper_start(&loop[1], waking, world.b.cq));
	for (i = 0; i < 100; i++) {
		link_works(&world, l);
		tp_cq_wait(world.a.cq, clock_after_ms(1));
	}
	for (i = 0; i < 2; i++)
		ck_ok(looper_stop(&loop[i]));
}
END_TEST

TCase *case_threads(void)
{
	TCase *tc = contract_case("threads");

	tcase_add_test(tc, accept_elsewhere);
	tcase_add_test(tc, registration_during_traffic);
	tcase_add_test(tc, dereg_under_writes);
	tcase_add_test(tc, atomics_of_two_targets);
	tcase_add_test(tc, devices_in_parallel);
	tcase_add_test(tc, wakes_during_traffic);
	return tc;
}
