/* SPDX-License-Identifier: BSD-2-Clause */
/* nemesis.c - causes faults at random. */
#include <inttypes.h>
#include <string.h>

#include "tests/raft_sim/sim.h"

static struct sim_node *any_node(struct sim *sim)
{
	struct sim_node *node;

	do
		node = &sim->nodes[sim_random(sim, 0, sim->n_nodes - 1)];
	while (node->retired);
	return node;
}

static void later(struct sim *sim, struct sim_node *node,
		  enum sim_event_kind kind, uint64_t after)
{
	struct sim_event event = { .kind = kind, .node = node->id - 1 };

	sim_add(sim, after, &event);
}

void sim_crash(struct sim *sim, struct sim_node *node, bool power)
{
	if (!node->member)
		return;
	sim_node_crash(node, power);
	later(sim, node, SIM_START,
	      sim_random(sim, 10, sim_chance(sim, 300) ? 4000 : 300) * SIM_MS);
}

static void crash_one(struct sim *sim)
{
	sim_crash(sim, any_node(sim), sim_chance(sim, 500));
}

static void crash_leader(struct sim *sim)
{
	for (unsigned int i = 0; i < sim->n_nodes; i++)
		if (sim->nodes[i].leads)
			sim_crash(sim, &sim->nodes[i], sim_chance(sim, 500));
}

static void crash_all(struct sim *sim)
{
	bool power = sim_chance(sim, 700);

	for (unsigned int i = 0; i < sim->n_nodes; i++)
		if (sim_chance(sim, 800))
			sim_crash(sim, &sim->nodes[i], power);
}

static void cut_at_random(struct sim *sim)
{
	for (unsigned int i = 0; i < sim->n_nodes; i++)
		for (unsigned int j = 0; j < sim->n_nodes; j++)
			sim->cut[i][j] = i != j && sim_chance(sim, 350);
	sim_note(sim, "the network is cut at random");
}

static void cut_node(struct sim *sim)
{
	unsigned int node = (unsigned int)(any_node(sim)->id - 1);
	unsigned int ways = (unsigned int)sim_random(sim, 1, 3);

	for (unsigned int i = 0; i < sim->n_nodes; i++) {
		if (i != node && (ways & 1))
			sim->cut[i][node] = true;
		if (i != node && (ways & 2))
			sim->cut[node][i] = true;
	}
	sim_note(sim, "node %u is cut off, ways %u", node + 1, ways);
}

static void heal(struct sim *sim)
{
	memset(sim->cut, 0, sizeof(sim->cut));
	sim_note(sim, "the network is whole");
}

static void change_network(struct sim *sim)
{
	sim->loss = sim_chance(sim, 500)
			    ? 0
			    : (unsigned int)sim_random(sim, 1, 200);
	sim->twice = (unsigned int)sim_random(sim, 0, 100);
	sim->delay = sim_random(sim, 1, sim_chance(sim, 200) ? 150 : 10) *
		     SIM_MS;
	sim->late = sim_random(sim, 10, 6000) * SIM_MS;
}

static void change_clock(struct sim *sim)
{
	sim_node_set_rate(any_node(sim), sim_random(sim, 880000, 1120000));
}

static void pause_node(struct sim *sim)
{
	struct sim_node *node = any_node(sim);

	if (!node->member || node->paused)
		return;
	node->paused = true;
	sim_note(sim, "node %" PRIu64 " is stopped", node->id);
	later(sim, node, SIM_RESUME, sim_random(sim, 50, 3000) * SIM_MS);
}

static void hand_over(struct sim *sim)
{
	struct member_status status;
	unsigned int voters = 0;

	for (unsigned int i = 0; i < sim->n_nodes; i++) {
		struct sim_node *node = &sim->nodes[i];

		if (!node->member || node->paused || !node->leads)
			continue;
		sim_note(sim, "node %" PRIu64 " hands over", node->id);
		member_get_status(node->member, &status);
		for (unsigned int j = 0; j < status.n; j++)
			voters += status.peers[j].voter;
		sim_heap_use(&node->heap);
		/* Two voters need the former leader, which restarts. */
		if (!member_transfer(node->member, 0) && sim->calm &&
		    voters > 2)
			sim->handed_over = sim->now;
		return;
	}
}

void sim_calm_transfer(struct sim *sim)
{
	sim->delay = SIM_MS;
	hand_over(sim);
}

static void slow_disk(struct sim *sim)
{
	struct sim_node *node = any_node(sim);

	node->disk_ns = sim_random(sim, 1, 400) * SIM_MS;
	later(sim, node, SIM_DISK, sim_random(sim, 100, 4000) * SIM_MS);
}

static void full_disk(struct sim *sim)
{
	struct sim_node *node = any_node(sim);

	sim_disk_faults(node->disk)->full = true;
	later(sim, node, SIM_DISK, sim_random(sim, 100, 5000) * SIM_MS);
}

static void break_disk(struct sim *sim)
{
	struct sim_node *node = any_node(sim);

	sim_disk_faults(node->disk)->breaks_in = (unsigned int)sim_random(sim,
									  1, 4);
	later(sim, node, SIM_DISK, sim_random(sim, 10, 500) * SIM_MS);
}

/*
 * Prepares a case in which a vote is refused at first: one member gets no messages of the leader,
 * and asks another one for its vote, which that one refuses until it restarts.
 */
static void prepare_ambush(struct sim *sim)
{
	struct sim_event event = { .kind = SIM_AMBUSH };
	uint64_t leader, lonely = any_node(sim)->id - 1;

	event.node = any_node(sim)->id - 1;
	for (leader = 0; leader < sim->n_nodes; leader++)
		if (sim->nodes[leader].leads)
			break;
	if (leader == sim->n_nodes || lonely == leader ||
	    event.node == leader || event.node == lonely)
		return;
	heal(sim);
	sim->cut[leader][lonely] = sim->cut[lonely][leader] = true;
	sim_add(sim, sim_random(sim, 400, 1500) * SIM_MS, &event);
}

void sim_ambush(struct sim *sim, struct sim_node *voter)
{
	if (sim->calm)
		return;
	for (unsigned int i = 0; i < sim->n_nodes; i++)
		if (sim->nodes[i].leads)
			sim->cut[i][voter->id - 1] =
				sim->cut[voter->id - 1][i] = true;
	sim_note(sim, "ambush");
	sim_node_crash(voter, sim_chance(sim, 500));
	later(sim, voter, SIM_START, sim_random(sim, 0, 20) * SIM_MS);
}

/*
 * Causes many elections: messages take as long as the election timeout, and leaders and voters are
 * killed early.
 */
static void unsettle(struct sim *sim)
{
	sim->kill_new = (unsigned int)sim_random(sim, 0, 700);
	if (!sim_chance(sim, 400))
		return;
	sim->delay = sim_random(sim, 50, 900) * SIM_MS;
	sim->late = sim_random(sim, 500, 6000) * SIM_MS;
}

static void settle(struct sim *sim)
{
	sim->kill_new = 0;
	sim->delay = 5 * SIM_MS;
}

static const struct {
	unsigned int weight;
	void (*strike)(struct sim *sim);
} faults[] = {
	{ 10, crash_one },	{ 14, crash_leader },	{ 4, crash_all },
	{ 10, cut_at_random },	{ 14, cut_node },	{ 20, heal },
	{ 10, change_network }, { 6, change_clock },	{ 12, pause_node },
	{ 12, hand_over },	{ 6, slow_disk },	{ 4, full_disk },
	{ 5, break_disk },	{ 30, prepare_ambush }, { 6, unsettle },
	{ 8, settle },
};

void sim_nemesis(struct sim *sim)
{
	unsigned int sum = 0, at, i;

	for (i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		sum += faults[i].weight;
	at = (unsigned int)sim_random(sim, 0, sum - 1);
	for (i = 0; at >= faults[i].weight; i++)
		at -= faults[i].weight;
	faults[i].strike(sim);
}

void sim_nemesis_end(struct sim *sim)
{
	heal(sim);
	sim->calm = true;
	sim->loss = sim->twice = sim->kill_new = 0;
	sim->delay = 5 * SIM_MS;
	for (unsigned int i = 0; i < sim->n_nodes; i++) {
		struct sim_node *node = &sim->nodes[i];

		node->disk_ns = 2 * SIM_MS;
		*sim_disk_faults(node->disk) = (struct sim_disk_faults){ 0 };
	}
}
