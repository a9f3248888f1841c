/* SPDX-License-Identifier: BSD-2-Clause */
/* net.c - transfers messages between the nodes, and delays, loses and repeats them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/raft_sim/sim.h"

static uint64_t message_delay(struct sim *sim)
{
	if (!sim->calm && sim_chance(sim, 5))
		return sim_random(sim, 0, sim->late);
	return sim_random(sim, sim->delay / 4, sim->delay);
}

static void deliver_later(struct sim_node *from, uint64_t to, const void *data,
			  size_t len)
{
	struct sim *sim = from->sim;
	struct sim_event event = { .kind = SIM_MESSAGE,
				   .node = to,
				   .from = from->id - 1,
				   .data = malloc(len),
				   .len = len };

	memcpy(event.data, data, len);
	sim_add(sim, message_delay(sim), &event);
}

int sim_net_send(struct sim_node *from, uint64_t to, const void *data,
		 size_t len)
{
	struct sim *sim = from->sim;

	if (!to || to > sim->n_nodes)
		return -ENOTCONN;
	if (sim->cut[from->id - 1][to - 1])
		return sim_chance(sim, 500) ? -ENOTCONN : 0;
	if (sim_chance(sim, sim->loss))
		return 0;
	deliver_later(from, to - 1, data, len);
	if (sim_chance(sim, sim->twice))
		deliver_later(from, to - 1, data, len);
	return 0;
}
