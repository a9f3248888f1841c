/* SPDX-License-Identifier: BSD-2-Clause */
/* group_changes.c - adds empty managers to the group and removes others, one change at a time. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "tests/raft_sim/sim.h"

static struct sim_node *find_leader(struct sim *sim)
{
	for (unsigned int i = 0; i < sim->n_nodes; i++) {
		struct sim_node *node = &sim->nodes[i];

		if (node->member && node->leads && !node->paused)
			return node;
	}
	return NULL;
}

/* ---- adding ---- */

static void vote_given(void *arg, int rc)
{
	struct sim_node *node = arg;

	sim_note(node->sim, "node %" PRIu64 " has a vote: %d", node->id, rc);
	if (rc)
		return;
	node->added = true;
	node->sim->joined++;
}

static void add_node(struct sim_node *leader, struct sim_node *node)
{
	char name[24];
	struct member_address new = { node->id, name };
	int rc;

	snprintf(name, sizeof(name), "node%" PRIu64, node->id);
	sim_heap_use(&leader->heap);
	rc = member_add(leader->member, &new, NULL, NULL);
	/* the manager is already a member, but has no vote */
	if (rc == -EEXIST)
		rc = member_promote(leader->member, node->id, vote_given, node);
	sim_note(leader->sim, "node %" PRIu64 " adds %" PRIu64 ": %d",
		 leader->id, node->id, rc);
}

/*
 * Returns a manager with an empty store that waits to be added.  NULL: there is none, and no more
 * can be made.
 */
static struct sim_node *waiting_node(struct sim *sim)
{
	struct sim_node *last = &sim->nodes[sim->n_nodes - 1];

	if (!last->added && !last->removing)
		return last;
	if (sim->n_nodes == SIM_NODES)
		return NULL;
	last = sim_node_new(sim, true);
	sim_node_start(last);
	return last;
}

/* ---- removing ---- */

static void member_removed(void *arg, int rc)
{
	struct sim_node *node = arg;
	struct sim_event retire = { .kind = SIM_RETIRE, .node = node->id - 1 };

	sim_note(node->sim, "node %" PRIu64 " was removed: %d", node->id, rc);
	if (rc || node->removed)
		return;
	node->removed = true;
	node->sim->left++;
	sim_add(node->sim, sim_random(node->sim, 0, 3000) * SIM_MS, &retire);
}

/* Lets a leader that is to be removed hand over.  It must refuse to remove itself. */
static void hand_over(struct sim_node *leader)
{
	sim_heap_use(&leader->heap);
	if (member_remove(leader->member, leader->id, NULL, NULL) != -EINVAL)
		sim_fail(leader->sim, "node %" PRIu64 " removes itself",
			 leader->id);
	(void)member_transfer(leader->member, 0);
}

static void remove_node(struct sim_node *leader, struct sim_node *node)
{
	int rc;

	if (node == leader) {
		hand_over(leader);
		return;
	}
	node->removing = true;
	sim_heap_use(&leader->heap);
	rc = member_remove(leader->member, node->id, member_removed, node);
	sim_note(leader->sim, "node %" PRIu64 " removes %" PRIu64 ": %d",
		 leader->id, node->id, rc);
	/* an earlier leader has removed it, and its answer was lost */
	if (rc == -ENOENT)
		member_removed(node, 0);
}

/*
 * Returns a member whose removal was requested, and of which the operator does not know whether it
 * was removed.  NULL: none.
 */
static struct sim_node *unsure_node(struct sim *sim)
{
	for (unsigned int i = 0; i < sim->n_nodes; i++)
		if (sim->nodes[i].removing && !sim->nodes[i].removed)
			return &sim->nodes[i];
	return NULL;
}

/* ---- one step ---- */

void sim_change_group(struct sim *sim)
{
	struct sim_node *leader = find_leader(sim), *node = unsure_node(sim);
	struct member_status st;
	unsigned int voters = 0;

	if (!leader)
		return;
	member_get_status(leader->member, &st);
	for (unsigned int i = 0; i < st.n; i++)
		voters += st.peers[i].voter;
	if (node) {
		remove_node(leader, node);
		return;
	}
	if (voters < 3 || (voters < 5 && sim_chance(sim, 500)))
		node = waiting_node(sim);
	if (node)
		add_node(leader, node);
	else if (voters > 1)
		remove_node(leader,
			    sim_chance(sim, 250)
				    ? leader
				    : &sim->nodes[st.peers[sim_random(sim, 0,
								      st.n - 1)]
							  .id -
						  1]);
}
