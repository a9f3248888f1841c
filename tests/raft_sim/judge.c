/* SPDX-License-Identifier: BSD-2-Clause */
/* judge.c - checks conditions that must always hold. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mgr/raft/member_int.h"
#include "tests/raft_sim/sim.h"

/*
 * Value of history[] for an index without an entry of a client: some node has applied an entry
 * after it.
 */
#define NO_ENTRY UINT64_MAX

void sim_fail(struct sim *sim, const char *fmt, ...)
{
	va_list args;

	if (sim->failed)
		return;
	sim->failed = true;
	printf("seed %" PRIu64 ": at %" PRIu64 " ms: ", sim->seed,
	       sim->now / SIM_MS);
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	printf("\n");
	fflush(stdout);
}

static void grow(uint64_t **numbers, size_t *have, uint64_t index)
{
	size_t room = *have ? *have : 1024;

	while (room <= index)
		room *= 2;
	if (room == *have)
		return;
	*numbers = reallocarray(*numbers, room, sizeof(uint64_t));
	memset(*numbers + *have, 0, (room - *have) * sizeof(uint64_t));
	*have = room;
}

static void judge_at(struct sim_node *node, uint64_t index, uint64_t id)
{
	struct sim *sim = node->sim;

	if (!sim->history[index])
		sim->history[index] = id;
	if (sim->history[index] != id)
		sim_fail(sim,
			 "node %" PRIu64 " applies entry %" PRId64
			 " at index %" PRIu64 ", another one applied %" PRId64,
			 node->id, (int64_t)id, index,
			 (int64_t)sim->history[index]);
}

void judge_applied(struct sim_node *node, uint64_t index, uint64_t id)
{
	struct sim *sim = node->sim;

	grow(&sim->history, &sim->history_room, index);
	if (index <= node->applied_to) {
		sim_fail(sim,
			 "node %" PRIu64 " applies index %" PRIu64 " twice",
			 node->id, index);
		return;
	}
	for (uint64_t i = node->applied_to + 1; i < index; i++)
		judge_at(node, i, NO_ENTRY);
	judge_at(node, index, id);
	if (index > sim->history_to)
		sim->history_to = index;
}

void judge_acknowledged(struct sim_node *node, uint64_t id)
{
	struct sim *sim = node->sim;
	uint64_t index;

	for (index = node->applied_to; index; index--)
		if (node->applied[index] == id)
			break;
	if (!index) {
		sim_fail(sim,
			 "node %" PRIu64 " acknowledges entry %" PRIu64
			 " before it is applied",
			 node->id, id);
		return;
	}
	sim->acknowledged++;
	if (index > sim->acknowledged_to)
		sim->acknowledged_to = index;
}

void judge_read(struct sim_node *node)
{
	struct sim *sim = node->sim;

	sim->reads++;
	if (node->applied_to < sim->acknowledged_to)
		sim_fail(sim,
			 "stale read: node %" PRIu64 " has a lease and knows "
			 "index %" PRIu64 ", but %" PRIu64 " was acknowledged",
			 node->id, node->applied_to, sim->acknowledged_to);
}

static void judge_committed(struct sim_node *node)
{
	struct sim *sim = node->sim;
	const struct raft_member *m = node->member;

	grow(&sim->terms, &sim->terms_room, m->raft.commit_index);
	for (uint64_t i = node->judged + 1; i <= m->raft.commit_index; i++) {
		const struct log_index_entry *entry = log_index_get(&m->index,
								    i);

		if (!entry)
			continue;
		if (!sim->terms[i])
			sim->terms[i] = entry->term;
		if (sim->terms[i] != entry->term)
			sim_fail(sim,
				 "node %" PRIu64 " commits an entry of term "
				 "%" PRIu64 " at index %" PRIu64
				 ", another one committed one of term %" PRIu64,
				 node->id, entry->term, i, sim->terms[i]);
	}
	node->judged = m->raft.commit_index;
}

bool judge_member(struct sim_node *node)
{
	struct sim *sim = node->sim;
	const struct raft_member *m = node->member;
	uint64_t term = m->raft.current_term;

	judge_committed(node);
	if (m->raft.state != RAFT_LEADER || node->elected == term)
		return false;
	grow(&sim->leaders, &sim->leaders_room, term);
	if (sim->leaders[term])
		sim_fail(sim,
			 "nodes %" PRIu64 " and %" PRIu64
			 " lead in term %" PRIu64,
			 sim->leaders[term], node->id, term);
	sim->leaders[term] = node->id;
	node->elected = term;
	if (node->removed)
		sim_fail(sim, "node %" PRIu64 " was removed, and leads",
			 node->id);
	return true;
}

void judge_leases(struct sim *sim)
{
	uint64_t holder = 0;

	for (unsigned int i = 0; i < sim->n_nodes; i++) {
		struct sim_node *node = &sim->nodes[i];

		if (!node->member || !member_lease_valid(node->member))
			continue;
		if (holder)
			sim_fail(sim,
				 "nodes %" PRIu64 " and %" PRIu64
				 " have a lease",
				 holder, node->id);
		if (node->removed)
			sim_fail(sim,
				 "node %" PRIu64
				 " was removed, and has a lease",
				 node->id);
		holder = node->id;
	}
}

static void sim_note_status(struct sim_node *node)
{
	struct member_status st;

	member_get_status(node->member, &st);
	sim_note(node->sim,
		 "node %" PRIu64 ": role %d term %" PRIu64 " leader %" PRIu64
		 " first %" PRIu64 " last %" PRIu64 " stored %" PRIu64
		 " committed %" PRIu64 " applied %" PRIu64 " snapshot %" PRIu64
		 " members %u",
		 node->id, st.role, st.term, st.leader, st.first, st.last,
		 st.stored, st.committed, st.applied, st.snapshot, st.n);
}

/*
 * Sets voters to the ids of the members with a vote.  Returns their number; 0: there is not exactly
 * one leader.
 */
static unsigned int find_voters(struct sim *sim, uint64_t voters[MEMBERS_MAX])
{
	unsigned int leaders = 0, n = 0;
	struct member_status st;

	for (unsigned int i = 0; i < sim->n_nodes; i++) {
		struct raft_member *member = sim->nodes[i].member;

		if (!member || !member_lease_valid(member))
			continue;
		leaders++;
		member_get_status(member, &st);
	}
	if (leaders != 1) {
		sim_fail(sim, "%u leaders after a calm time", leaders);
		return 0;
	}
	for (unsigned int i = 0; i < st.n; i++)
		if (st.peers[i].voter)
			voters[n++] = st.peers[i].id;
	return n;
}

/* Checks that a voter has all acknowledged entries. */
static void judge_voter(struct sim_node *node)
{
	struct sim *sim = node->sim;

	if (!node->member)
		sim_fail(sim, "node %" PRIu64 " is still down", node->id);
	else if (node->applied_to < sim->acknowledged_to)
		sim_fail(sim,
			 "node %" PRIu64 " has index %" PRIu64 ", but %" PRIu64
			 " was acknowledged",
			 node->id, node->applied_to, sim->acknowledged_to);
	if (node->removed)
		sim_fail(sim, "node %" PRIu64 " was removed, and has a vote",
			 node->id);
}

void judge_transfer(struct sim_node *node)
{
	struct sim *sim = node->sim;
	uint64_t took = (sim->now - sim->handed_over) / SIM_MS;

	if (sim->handed_over && took >= SIM_HEARTBEAT_MS)
		sim_fail(sim,
			 "node %" PRIu64 " leads only %" PRIu64
			 " ms after a transfer began",
			 node->id, took);
	sim->handed_over = 0;
}

void judge_end(struct sim *sim)
{
	uint64_t voters[MEMBERS_MAX];
	unsigned int n = find_voters(sim, voters);

	for (unsigned int i = 0; i < sim->n_nodes; i++) {
		struct sim_node *node = &sim->nodes[i];
		bool votes = false;

		if (sim->verbose && node->member)
			sim_note_status(node);
		for (unsigned int j = 0; j < n; j++)
			votes |= voters[j] == node->id;
		if (votes)
			judge_voter(node);
		else if (n && node->added && !node->removing)
			sim_fail(sim,
				 "node %" PRIu64 " was added, and has no vote",
				 node->id);
	}
}
