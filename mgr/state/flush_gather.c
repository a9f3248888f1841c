/* SPDX-License-Identifier: BSD-2-Clause */
/* flush_gather.c - counts the clients that were answered a moment ago. */
#include "mgr/state/flush_gather.h"

/*
 * The longest wait of a flush, in durations of a flush.  Beyond that, a client that arrives late
 * waits less if it shares the next flush.
 */
#define PATIENCE 2

void gather_init(struct gather *g)
{
	*g = (struct gather){ .round = 1 };
}

void gather_answered(struct gather *g, struct gather_client *c, uint64_t now)
{
	g->since = now;
	if (c->round == g->round)
		return;
	c->round = g->round;
	g->due++;
}

void gather_back(struct gather *g, struct gather_client *c)
{
	if (c->round != g->round)
		return;
	c->round = 0;
	g->due--;
}

void gather_begin(struct gather *g, uint64_t took_ns)
{
	g->spin.near = g->spin.far = PATIENCE * took_ns;
	spin_begin(&g->spin, g->since,
		   g->due ? SPIN_ANYTHING : SPIN_NOTHING_SOON);
}

bool gather_waits(struct gather *g, uint64_t now)
{
	return g->due && spin_again(&g->spin, now);
}

void gather_end(struct gather *g, uint64_t now)
{
	if (!g->due)
		spin_end(&g->spin, now);
	g->due = 0;
	g->round++;
}
