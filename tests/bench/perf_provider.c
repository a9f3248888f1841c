/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * perf_provider.c - transfers and messages through transport.h.  Transfers are made as an iod makes
 * them: chains of 64 KiB pieces, of which the last one is signaled, and two chains in flight.
 * Messages have a window of receives; a small message returns the credits.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/clock.h"
#include "tests/bench/tp_perf.h"
#include "common/transport/transport.h"

#define PIECE 65536u
#define PIECES ((PERF_SIZE_MAX + PIECE - 1) / PIECE)
#define WINDOW 32u /* number of messages after which the receiver answers */
#define ACCESS (TP_LOCAL_WRITE | TP_REMOTE_READ | TP_REMOTE_WRITE)

/* One end of the connection, with its own device, cq and thread. */
struct end {
	const struct perf *p;
	struct tp_dev *dev;
	struct tp_cq *cq;
	struct tp_ep *ep;
	char *buf;
	struct tp_mr *mr;
	char *inbox; /* memory for 2 * WINDOW receives */
	struct tp_mr *inbox_mr;
	struct end *peer;
	bool gone;
	struct tp_sge sge[PIECES];
	struct tp_send_wr wr[PIECES];
};

static size_t inbox_size(const struct end *e)
{
	bool bulk = e->p->op == PERF_WRITE || e->p->op == PERF_READ;

	return bulk ? 8 : e->p->size;
}

static void die(const char *what, int rc)
{
	fprintf(stderr, "tp_perf: %s: %s\n", what, strerror(-rc));
	exit(1);
}

static void must(const char *what, int rc)
{
	if (rc)
		die(what, rc);
}

static void post_receive(struct end *e, uint64_t slot)
{
	size_t size = inbox_size(e);
	struct tp_recv_wr wr = {
		.wr_id = slot,
		.sge = { e->inbox + slot * size, (uint32_t)size,
			 e->inbox_mr->lkey },
	};
	int rc;

	rc = tp_post_recv(e->ep, &wr);
	e->gone |= rc == -ENOTCONN;
	if (!e->gone)
		must("post_recv", rc);
}

static void end_open(struct end *e, const struct perf *p)
{
	struct tp_ep_attr attr = { .max_recv_wr = 2 * WINDOW,
				   .max_send_wr = 2 * PIECES };
	size_t inbox;
	uint64_t i;

	e->p = p;
	must(p->provider, tp_dev_open(p->provider, NULL, &e->dev));
	must("cq", tp_cq_open(e->dev, 8192, &e->cq));
	must("ep", tp_ep_open(e->cq, &attr, &e->ep));
	inbox = 2 * WINDOW * inbox_size(e);
	e->buf = perf_buffer(p->size);
	e->inbox = perf_buffer(inbox);
	must("mr", tp_mr_reg(e->dev, e->buf, p->size, ACCESS, &e->mr));
	must("mr", tp_mr_reg(e->dev, e->inbox, inbox, ACCESS, &e->inbox_mr));
	for (i = 0; i < 2 * WINDOW; i++)
		post_receive(e, i);
}

static void end_close(struct end *e)
{
	tp_ep_close(e->ep);
	tp_mr_dereg(e->mr);
	tp_mr_dereg(e->inbox_mr);
	tp_cq_close(e->cq);
	tp_dev_close(e->dev);
	free(e->buf);
	free(e->inbox);
}

static void take_events(struct end *e)
{
	struct tp_event ev;

	while (tp_cq_event(e->cq, &ev)) {
		if (ev.type == TP_EV_CONNECT_REQUEST)
			must("accept", tp_accept(e->ep, ev.req, NULL, 0));
		else if (ev.type == TP_EV_DISCONNECTED)
			e->gone = true;
	}
}

/* Waits for completions.  Returns their number; 0: the peer has disconnected. */
static int next(struct end *e, struct tp_wc *wc, int n)
{
	int got;

	while ((got = tp_cq_poll(e->cq, wc, n)) == 0) {
		take_events(e);
		if (e->gone)
			return 0;
		if (!e->p->spin)
			tp_cq_wait(e->cq, clock_after_ms(1000));
	}
	return got;
}

static void send_one(struct end *e, uint32_t len, unsigned int flags)
{
	struct tp_sge sge = { e->buf, len, e->mr->lkey };
	int rc;
	struct tp_send_wr wr = {
		.opcode = TP_SEND, .flags = flags, .sgl = &sge, .nsge = 1
	};

	rc = tp_post_send(e->ep, &wr);
	e->gone |= rc == -ENOTCONN;
	if (!e->gone)
		must("post_send", rc);
}

/* Transfers p->size bytes as a chain. */
static void transfer(struct end *e)
{
	size_t off = 0, i = 0;

	for (; off < e->p->size; off += PIECE, i++) {
		size_t len = e->p->size - off;

		e->sge[i] = (struct tp_sge){
			e->buf + off, (uint32_t)(len < PIECE ? len : PIECE),
			e->mr->lkey
		};
		e->wr[i] = (struct tp_send_wr){
			.next = &e->wr[i + 1],
			.opcode = e->p->op == PERF_READ ? TP_READ : TP_WRITE,
			.sgl = &e->sge[i],
			.nsge = 1,
			.remote_addr = (uintptr_t)e->peer->buf + off,
			.rkey = e->peer->mr->rkey,
		};
	}
	e->wr[i - 1].next = NULL;
	e->wr[i - 1].flags = TP_SIGNALED;
	must("post_send", tp_post_send(e->ep, e->wr));
}

/*
 * The thread of the other end: answers each message, or each WINDOW-th, until the peer disconnects.
 */
static void *far_end(void *arg)
{
	struct end *e = arg;
	uint64_t count = 0;
	struct tp_wc wc[16];
	int n, i;

	perf_pin(e->p, 1);
	while ((n = next(e, wc, 16))) {
		for (i = 0; i < n; i++) {
			if (wc[i].opcode != TP_RECV || wc[i].status)
				continue;
			post_receive(e, wc[i].wr_id);
			count++;
			if (e->p->op == PERF_PINGPONG)
				send_one(e, (uint32_t)e->p->size,
					 count % 64 ? 0 : TP_SIGNALED);
			else if (e->p->op != PERF_SEND || count % WINDOW == 0)
				send_one(e, 8 < e->p->size ? 8 : 1,
					 TP_SIGNALED);
		}
	}
	return NULL;
}

/* Waits for a completion of that opcode. */
static void await(struct end *e, enum tp_opcode opcode)
{
	struct tp_wc wc = { 0 };

	do {
		if (next(e, &wc, 1) == 0 || wc.status)
			die("connection", wc.status ?: -ENOTCONN);
		if (wc.opcode == TP_RECV)
			post_receive(e, wc.wr_id);
	} while (wc.opcode != opcode);
}

static void one(struct end *e, uint64_t n)
{
	if (e->p->op == PERF_SEND) {
		send_one(e, (uint32_t)e->p->size, n % 16 ? 0 : TP_SIGNALED);
		if (n >= WINDOW && n % WINDOW == 0)
			await(e, TP_RECV);
	} else if (e->p->op == PERF_PINGPONG) {
		send_one(e, (uint32_t)e->p->size, n % 64 ? 0 : TP_SIGNALED);
		await(e, TP_RECV);
	} else {
		transfer(e);
		if (n >= e->p->in_flight)
			await(e, e->p->op == PERF_READ ? TP_READ : TP_WRITE);
	}
}

static void near_end(struct end *e, struct perf_result *result)
{
	uint64_t start, end, n = 0;
	double cpu;

	perf_pin(e->p, 0);
	start = clock_now();
	cpu = perf_cpu();

	do {
		one(e, n++);
		end = clock_now();
	} while (end - start < e->p->ms * CLOCK_NS_PER_MS);
	/* the answer shows that all data has arrived */
	if (e->p->op == PERF_WRITE) {
		send_one(e, 1, 0);
		await(e, TP_RECV);
		end = clock_now();
	}
	result->rate = (double)n * 1e9 / (double)(end - start);
	result->cpu = (perf_cpu() - cpu) / (double)n;
}

static void connect_ends(struct end *near, struct end *far)
{
	struct addr addr = { 0 };
	struct tp_listener *l;
	struct tp_event ev;
	struct tp_wc wc;

	snprintf(addr.host, sizeof(addr.host), "%s",
		 near->p->host ?: "127.0.0.1");
	must("listen", tp_listen(far->cq, &addr, 1, &l));
	tp_listener_addr(l, &addr);
	must("connect",
	     tp_connect(near->ep, &addr, NULL, 0, clock_after_ms(5000)));
	for (;;) {
		tp_cq_poll(far->cq, &wc, 1);
		take_events(far);
		tp_cq_poll(near->cq, &wc, 1);
		if (tp_cq_event(near->cq, &ev))
			break;
	}
	if (ev.type != TP_EV_ESTABLISHED)
		die("connect", ev.status);
	tp_unlisten(l);
}

bool perf_provider(const struct perf *p, struct perf_result *result)
{
	const struct tp_ep_attr idle = { 0 };
	static struct end near, far;
	pthread_t thread;

	memset(&near, 0, sizeof(near));
	memset(&far, 0, sizeof(far));
	if (p->op == PERF_SEND && p->size > TP_SEND_MAX) {
		fprintf(stderr, "tp_perf: a message is at most %u bytes\n",
			TP_SEND_MAX);
		return false;
	}
	end_open(&near, p);
	end_open(&far, p);
	near.peer = &far;
	far.peer = &near;
	connect_ends(&near, &far);
	pthread_create(&thread, NULL, far_end, &far);
	near_end(&near, result);
	tp_ep_close(near.ep);
	must("ep", tp_ep_open(near.cq, &idle, &near.ep));
	pthread_join(thread, NULL);
	end_close(&near);
	end_close(&far);
	return true;
}
