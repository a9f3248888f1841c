/* SPDX-License-Identifier: BSD-2-Clause */
/* harness.c - sides and worlds: opening, polling, waiting. */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "tests/contract/harness.h"
#include "tests/stranger.h"

#define IDLE_ROUNDS 200u /* polls without result before a short sleep */

void side_open(struct side *s, const char *provider, unsigned int depth)
{
	struct tp_dev_attr attr = { 0 };

	memset(s, 0, sizeof(*s));
	LIST_INIT(&s->mems);
	ck_ok(tp_dev_open(provider, &attr, &s->dev));
	ck_ok(tp_cq_open(s->dev, depth, &s->cq));
}

static void mem_free(struct mem *m)
{
	if (m->mr)
		tp_mr_dereg(m->mr);
	LIST_REMOVE(m, link);
	free(m->block);
	free(m);
}

void side_close(struct side *s)
{
	while (!LIST_EMPTY(&s->mems))
		mem_free(LIST_FIRST(&s->mems));
	if (s->cq)
		tp_cq_close(s->cq);
	if (s->dev)
		tp_dev_close(s->dev);
	s->cq = NULL;
	s->dev = NULL;
}

static bool turned_away(const struct tp_event *ev)
{
	if (ev->type != TP_EV_CONNECT_REQUEST || !is_stranger(ev->req))
		return false;
	tp_reject(ev->req, NULL, 0);
	return true;
}

unsigned int side_pump(struct side *s)
{
	unsigned int room = KEPT - s->nwc, got;
	int n;

	n = tp_cq_poll(s->cq, &s->wc[s->nwc], room < 16 ? (int)room : 16);
	ck_assert_int_ge(n, 0);
	s->nwc += (unsigned int)n;
	got = (unsigned int)n;
	while (s->nev < KEPT && tp_cq_event(s->cq, &s->ev[s->nev]) == 1) {
		s->nev += !turned_away(&s->ev[s->nev]);
		got++;
	}
	return got;
}

static bool take_wc(struct side *s, unsigned int i, struct tp_wc *wc)
{
	*wc = s->wc[i];
	memmove(&s->wc[i], &s->wc[i + 1], (--s->nwc - i) * sizeof(*wc));
	return true;
}

bool side_find_wc(struct side *s, const struct tp_ep *ep, struct tp_wc *wc)
{
	unsigned int i;

	for (i = 0; i < s->nwc; i++)
		if (!ep || s->wc[i].ep == ep)
			return take_wc(s, i, wc);
	return false;
}

bool side_find_ev(struct side *s, const struct tp_ep *ep, struct tp_event *ev)
{
	unsigned int i;

	for (i = 0; i < s->nev; i++)
		if (s->ev[i].ep == ep)
			break;
	if (i == s->nev)
		return false;
	*ev = s->ev[i];
	memmove(&s->ev[i], &s->ev[i + 1], (--s->nev - i) * sizeof(*ev));
	return true;
}

void side_forget(struct side *s, const struct tp_ep *ep)
{
	struct tp_event ev;
	struct tp_wc wc;

	while (side_find_wc(s, ep, &wc))
		;
	while (side_find_ev(s, ep, &ev))
		;
}

void world_open(struct world *w, const char *provider, unsigned int depth)
{
	struct addr any = { .scheme = "", .host = "127.0.0.1", .port = 0 };

	memset(w, 0, sizeof(*w));
	LIST_INIT(&w->links);
	side_open(&w->a, provider, depth);
	side_open(&w->b, provider, depth);
	snprintf(any.scheme, sizeof(any.scheme), "%s", provider);
	ck_ok(tp_listen(w->b.cq, &any, 64, &w->listener));
	tp_listener_addr(w->listener, &w->addr);
	ck_assert_uint_ne(w->addr.port, 0);
}

/* Drops requests that no test has taken. */
static void drop_requests(struct side *s)
{
	struct tp_event ev;

	side_pump(s);
	while (side_find_ev(s, NULL, &ev))
		if (ev.type == TP_EV_CONNECT_REQUEST)
			tp_reject(ev.req, NULL, 0);
}

void world_close(struct world *w)
{
	while (!LIST_EMPTY(&w->links))
		link_close(LIST_FIRST(&w->links));
	if (w->b.cq)
		drop_requests(&w->b);
	if (w->listener)
		tp_unlisten(w->listener);
	w->listener = NULL;
	side_close(&w->a);
	side_close(&w->b);
}

void world_pump(struct world *w)
{
	unsigned int i;

	for (i = 0; i < IDLE_ROUNDS; i++) {
		if (side_pump(&w->a) + side_pump(&w->b))
			return;
		sched_yield();
	}
	tp_cq_wait(w->a.cq, clock_after_ms(1));
}

static bool of_receives(enum tp_opcode opcode)
{
	return opcode == TP_RECV || opcode == TP_RECV_IMM;
}

/* Finds the first kept completion of ep's receives, or of its send requests. */
static bool find_in_queue(struct side *s, const struct tp_ep *ep, bool receives,
			  struct tp_wc *wc)
{
	unsigned int i;

	for (i = 0; i < s->nwc; i++)
		if (s->wc[i].ep == ep &&
		    of_receives(s->wc[i].opcode) == receives)
			return take_wc(s, i, wc);
	return false;
}

/* The order between send requests and receives of an endpoint is undefined. */
static struct tp_wc world_wc_of(struct world *w, struct side *s,
				struct tp_ep *ep, bool receives)
{
	uint64_t deadline = clock_after_ms(PATIENCE_MS);
	struct tp_wc wc = { 0 };

	while (!find_in_queue(s, ep, receives, &wc)) {
		ck_assert_msg(clock_now() < deadline, "no completion came");
		world_pump(w);
	}
	return wc;
}

struct tp_wc world_wc(struct world *w, struct side *s, struct tp_ep *ep)
{
	uint64_t deadline = clock_after_ms(PATIENCE_MS);
	struct tp_wc wc = { 0 };

	while (!side_find_wc(s, ep, &wc)) {
		ck_assert_msg(clock_now() < deadline, "no completion came");
		world_pump(w);
	}
	return wc;
}

struct tp_event world_ev(struct world *w, struct side *s, struct tp_ep *ep)
{
	uint64_t deadline = clock_after_ms(PATIENCE_MS);
	struct tp_event ev = { 0 };

	while (!side_find_ev(s, ep, &ev)) {
		ck_assert_msg(clock_now() < deadline, "no event came");
		world_pump(w);
	}
	return ev;
}

struct tp_wc expect_wc(struct world *w, struct side *s, struct tp_ep *ep,
		       uint64_t wr_id, enum tp_opcode opcode, int status)
{
	struct tp_wc wc = world_wc_of(w, s, ep, of_receives(opcode));

	ck_assert_int_eq(wc.status, status);
	ck_assert_uint_eq(wc.wr_id, wr_id);
	ck_assert_int_eq(wc.opcode, opcode);
	return wc;
}

struct tp_event expect_ev(struct world *w, struct side *s, struct tp_ep *ep,
			  enum tp_event_type type)
{
	struct tp_event ev = world_ev(w, s, ep);

	ck_assert_msg(ev.type == type, "event %d (status %d), expected %d",
		      ev.type, ev.status, type);
	return ev;
}

int expect_gone(struct world *w, struct side *s, struct tp_ep *ep)
{
	return expect_ev(w, s, ep, TP_EV_DISCONNECTED).status;
}

struct tp_conn_req *expect_req(struct world *w)
{
	struct tp_event ev = expect_ev(w, &w->b, NULL, TP_EV_CONNECT_REQUEST);

	ck_assert_ptr_eq(ev.listener, w->listener);
	ck_assert_ptr_nonnull(ev.req);
	return ev.req;
}

void expect_silence(struct side *s, const struct tp_ep *ep)
{
	struct tp_event ev;
	struct tp_wc wc;

	ck_assert(!side_find_wc(s, ep, &wc));
	ck_assert(!side_find_ev(s, ep, &ev));
}
