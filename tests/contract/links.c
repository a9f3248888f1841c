/* SPDX-License-Identifier: BSD-2-Clause */
/* links.c - pairs of connected endpoints for tests. */
#include <stdlib.h>

#include "tests/contract/harness.h"

struct link *link_idle(struct world *w, const struct tp_ep_attr *attr)
{
	struct tp_ep_attr none = { 0 };
	struct link *l = calloc(1, sizeof(*l));

	ck_assert_ptr_nonnull(l);
	l->world = w;
	LIST_INSERT_HEAD(&w->links, l, link);
	ck_ok(tp_ep_open(w->a.cq, attr ? attr : &none, &l->a));
	ck_ok(tp_ep_open(w->b.cq, attr ? attr : &none, &l->b));
	return l;
}

void link_start(struct world *w, struct link *l)
{
	ck_ok(tp_connect(l->a, &w->addr, NULL, 0, clock_after_ms(PATIENCE_MS)));
	ck_ok(tp_accept(l->b, expect_req(w), NULL, 0));
	expect_ev(w, &w->a, l->a, TP_EV_ESTABLISHED);
	expect_ev(w, &w->b, l->b, TP_EV_ESTABLISHED);
}

struct link *link_open(struct world *w, const struct tp_ep_attr *attr)
{
	struct link *l = link_idle(w, attr);

	link_start(w, l);
	return l;
}

/* A new endpoint may have the address of a closed one, so the kept results are dropped first. */
static void end_close(struct side *s, struct tp_ep *ep)
{
	if (!ep)
		return;
	side_forget(s, ep);
	tp_ep_close(ep);
}

void link_close(struct link *l)
{
	end_close(&l->world->a, l->a);
	end_close(&l->world->b, l->b);
	LIST_REMOVE(l, link);
	free(l);
}

static void one_way(struct world *w, struct side *from, struct tp_ep *src,
		    struct side *to, struct tp_ep *dst)
{
	struct mem *out = mem_new(from, 64, 0);
	struct mem *in = mem_new(to, 64, TP_LOCAL_WRITE);
	struct tp_sge sge = sge_of(out, 0, 64);
	struct tp_send_wr wr = wr_send(0xb01, &sge);
	struct tp_wc wc;

	mem_fill(out, 77);
	side_recv(dst, 0xb02, in, 0, 64);
	ck_ok(tp_post_send(src, &wr));
	wc = expect_wc(w, to, dst, 0xb02, TP_RECV, 0);
	ck_assert_uint_eq(wc.byte_len, 64);
	mem_check(in, 0, 64, 77, 0);
	expect_wc(w, from, src, 0xb01, TP_SEND, 0);
}

void link_works(struct world *w, struct link *l)
{
	one_way(w, &w->a, l->a, &w->b, l->b);
	one_way(w, &w->b, l->b, &w->a, l->a);
}
