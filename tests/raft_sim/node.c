/* SPDX-License-Identifier: BSD-2-Clause */
/* node.c - a simulated manager: a member of the group, a state machine, a clock, and crashes. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tests/raft_sim/sim.h"

#define ELECTION_MS 500u
#define SEGMENT (256u << 10)

/* ---- the clock ---- */

uint64_t sim_node_clock(const struct sim_node *node)
{
	uint64_t passed = node->sim->now - node->clock_at;

	return node->clock_base + passed / 1000000 * node->clock_rate +
	       passed % 1000000 * node->clock_rate / 1000000;
}

void sim_node_set_rate(struct sim_node *node, uint64_t rate)
{
	node->clock_base = sim_node_clock(node);
	node->clock_at = node->sim->now;
	node->clock_rate = rate;
}

static uint64_t clock_read(void *arg)
{
	return sim_node_clock(arg);
}

static int clock_random(void *arg, int min, int max)
{
	struct sim_node *node = arg;

	return (int)sim_random(node->sim, (uint64_t)min, (uint64_t)max);
}

/* ---- the state machine ---- */

static void grow(struct sim_node *node, uint64_t index)
{
	size_t room = node->room ? node->room : 1024;

	while (room <= index)
		room *= 2;
	if (room == node->room)
		return;
	node->applied = reallocarray(node->applied, room, sizeof(uint64_t));
	memset(node->applied + node->room, 0,
	       (room - node->room) * sizeof(uint64_t));
	node->room = room;
}

static int node_apply(void *arg, const struct member_entry *entry)
{
	struct sim_node *node = arg;
	uint64_t id;

	if (entry->len < sizeof(id)) {
		sim_fail(node->sim, "an entry of %zu bytes", entry->len);
		return -EIO;
	}
	memcpy(&id, entry->data, sizeof(id));
	grow(node, entry->index);
	judge_applied(node, entry->index, id);
	node->applied[entry->index] = id;
	node->applied_to = entry->index;
	return 0;
}

/*
 * Restores the state machine after a crash: a random part of the changes that were not durable
 * exists.
 */
static void state_crash(struct sim_node *node)
{
	uint64_t to = sim_random(node->sim, node->durable_to, node->applied_to);

	for (uint64_t i = to + 1; i <= node->applied_to; i++)
		node->applied[i] = 0;
	node->applied_to = node->durable_to = to;
}

static void add_event(struct sim_node *node, enum sim_event_kind kind,
		      uint64_t after)
{
	struct sim_event event = { .kind = kind,
				   .node = node->id - 1,
				   .life = node->life };

	sim_add(node->sim, after, &event);
}

static void node_checkpoint(void *arg, uint64_t index, uint64_t term)
{
	struct sim_node *node = arg;

	add_event(node, SIM_CHECKPOINT, sim_random(node->sim, 1, 200) * SIM_MS);
}

static void node_fill(void *arg, uint64_t from, uint64_t index, uint64_t term)
{
	struct sim_node *node = arg;

	node->filling = from;
	node->fill_index = index;
	add_event(node, SIM_FILL, sim_random(node->sim, 1, 500) * SIM_MS);
}

bool sim_node_fill(struct sim_node *node)
{
	const struct sim_node *from;

	if (!node->filling || node->filling > node->sim->n_nodes)
		return false;
	from = &node->sim->nodes[node->filling - 1];
	if (!from->member || from->applied_to < node->fill_index)
		return false;
	grow(node, from->applied_to);
	memset(node->applied, 0, node->room * sizeof(uint64_t));
	memcpy(node->applied, from->applied,
	       (from->applied_to + 1) * sizeof(uint64_t));
	node->applied_to = node->durable_to = from->applied_to;
	node->filling = 0;
	return true;
}

/* ---- leadership ---- */

static void node_gained(void *arg, uint64_t term)
{
	struct sim_node *node = arg;

	node->leads = term;
	node->sim->leaders_n++;
	sim_note(node->sim, "node %" PRIu64 " leads in term %" PRIu64, node->id,
		 term);
	judge_transfer(node);
}

static void node_ends(void *arg, const char *why)
{
	struct sim_node *node = arg;

	node->ending = true;
	sim_note(node->sim, "node %" PRIu64 " ends: %s", node->id, why);
}

/* A call of a client.  If the process ends, it gets no answer. */
struct sim_call {
	struct sim_node *node;
	uint64_t id;
	struct sim_call *next, **where;
};

static void call_free(struct sim_call *call)
{
	*call->where = call->next;
	if (call->next)
		call->next->where = call->where;
	free(call);
}

static void node_done(void *arg, int rc)
{
	struct sim_call *call = arg;

	if (rc)
		sim_fail(call->node->sim, "a call failed");
	else
		judge_acknowledged(call->node, call->id);
	call_free(call);
}

void sim_node_propose(struct sim_node *node)
{
	struct sim *sim = node->sim;
	struct sim_call *call = malloc(sizeof(*call));
	uint64_t data[512] = { 0 };
	size_t len = sim_random(sim, 1, sim_chance(sim, 50) ? 512 : 16) * 8;

	*call = (struct sim_call){ node, ++sim->next_id, node->calls,
				   &node->calls };
	if (call->next)
		call->next->where = &call->next;
	node->calls = call;
	data[0] = call->id;
	if (member_propose(node->member, data, len, node_done, call))
		call_free(call);
}

void sim_node_read(struct sim_node *node)
{
	if (member_lease_valid(node->member))
		judge_read(node);
}

/* ---- the process ---- */

static int node_send(void *arg, uint64_t to, const void *data, size_t len)
{
	return sim_net_send(arg, to, data, len);
}

static void node_submitted(void *arg)
{
	struct sim_node *node = arg;
	uint64_t ns = node->disk_ns;

	if (node->writing)
		return;
	node->writing = true;
	add_event(node, SIM_WRITE, sim_random(node->sim, ns / 2, ns));
}

static void node_wake(void *arg)
{
	add_event(arg, SIM_COLLECT, 1000);
}

static void note_line(void *arg, enum log_level level, const char *msg)
{
	struct sim_node *node = arg;

	sim_note(node->sim, "node %" PRIu64 ": %s", node->id, msg);
}

static struct member_attr node_attr(struct sim_node *node)
{
	return (struct member_attr){
		.id = node->id,
		.group = 77,
		.disk = sim_disk_ops(node->disk),
		.clock = { node, clock_read, clock_random },
		.peers = { node, node_send },
		.log_thread = { node, node_wake, node_submitted },
		.callbacks = { .arg = node,
			       .apply = node_apply,
			       .leader_gained = node_gained,
			       .leader_lost = node_ends,
			       .restart = node_ends,
			       .failed = node_ends,
			       .checkpoint = node_checkpoint,
			       .fill = node_fill },
		.applied = node->durable_to,
		.election_ms = ELECTION_MS,
		.heartbeat_ms = SIM_HEARTBEAT_MS,
		.segment_size = SEGMENT,
		.log_limit = 16 * SEGMENT,
		.checkpoint_bytes = 2 * SEGMENT,
		.trailing_bytes = SEGMENT,
		.log = node->sim->verbose ? &node->log : NULL,
	};
}

struct sim_node *sim_node_new(struct sim *sim, bool empty)
{
	static const struct member_address voters[SIM_FIRST] = {
		{ 1, "node1" }, { 2, "node2" }, { 3, "node3" }
	};
	struct sim_node *node = &sim->nodes[sim->n_nodes++];
	struct member_attr attr;

	*node = (struct sim_node){
		.sim = sim,
		.id = sim->n_nodes,
		.added = !empty,
		.disk = sim_disk_new(sim),
		.clock_base = sim_random(sim, 1, 1ull << 50),
		.clock_rate = 1000000,
		.disk_ns = 2 * SIM_MS,
		.log = { .level = LOG_LV_INFO, .sink = note_line, .arg = node }
	};
	sim_heap_use(&node->heap);
	grow(node, 0);
	attr = node_attr(node);
	if (member_create(&attr, voters, empty ? 0 : SIM_FIRST))
		sim_fail(sim, "cannot create node %" PRIu64, node->id);
	return node;
}

void sim_node_free(struct sim_node *node)
{
	if (node->member)
		sim_node_crash(node, false);
	sim_disk_free(node->disk);
	sim_heap_free(&node->heap);
	free(node->applied);
}

static bool disk_faults(const struct sim_node *node)
{
	const struct sim_disk_faults *faults = sim_disk_faults(node->disk);

	return faults->broken || faults->full;
}

void sim_node_start(struct sim_node *node)
{
	struct member_attr attr;
	int rc;

	sim_heap_use(&node->heap);
	node->life++;
	node->ending = false;
	node->writing = false;
	node->leads = 0;
	node->judged = 0;
	attr = node_attr(node);
	rc = member_start(&attr, &node->member);
	if (rc) {
		node->member = NULL;
		if (disk_faults(node)) {
			add_event(node, SIM_START, 100 * SIM_MS);
			return;
		}
		sim_fail(node->sim, "node %" PRIu64 " cannot start: %s",
			 node->id, strerror(-rc));
		return;
	}
	sim_note(node->sim, "node %" PRIu64 " starts, index %" PRIu64, node->id,
		 node->applied_to);
	add_event(node, SIM_TICK, SIM_MS);
}

void sim_node_crash(struct sim_node *node, bool power)
{
	sim_note(node->sim, "node %" PRIu64 " %s", node->id,
		 power ? "loses power" : "is killed");
	sim_heap_use(&node->heap);
	member_abandon(node->member);
	node->member = NULL;
	sim_heap_free(&node->heap);
	if (sim_disk_open_files(node->disk))
		sim_fail(node->sim, "node %" PRIu64 " leaves files open",
			 node->id);
	node->life++;
	node->leads = 0;
	node->paused = false;
	while (node->calls)
		call_free(node->calls);
	if (power)
		sim_disk_lose_power(node->disk);
	state_crash(node);
	/*
	 * a new state replaces the old one in one step; the process may end before the member
	 * learns of it
	 */
	if (node->filling && sim_chance(node->sim, 500))
		sim_node_fill(node);
	node->filling = 0;
}

void sim_node_retire(struct sim_node *node)
{
	node->retired = true;
	if (node->member)
		sim_node_crash(node, false);
}
