/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sim.h - managers in one process, with a simulated network, disks and clocks.  Everything that
 * happens follows from the seed, so a seed that failed can be run again.
 *
 * 	sim.c	what happens, in order of time
 * 	node.c	a manager: a member, its state machine, its crashes
 * 	net.c	messages: late, lost, twice, out of order, one-way partitions
 * 	disk.c	files: what was not synced may be lost or torn in a loss of power
 * 	nemesis.c	faults
 * 	group_changes.c	adds and removes managers
 * 	judge.c	what must never happen
 */
#ifndef SIM_H
#define SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mgr/raft/member.h"
#include "tests/raft_sim/sim_disk.h"
#include "tests/unit/rnd.h"

#define SIM_FIRST 3u /* managers that make the group */
#define SIM_NODES 10u /* with those that are added later */
#define SIM_MS UINT64_C(1000000)

/* ---- heap.c: the memory of libraft, by process ---- */

struct sim_heap {
	struct sim_block *first;
};
void sim_heap_init(void);
void sim_heap_use(struct sim_heap *heap);
void sim_heap_free(struct sim_heap *heap);

/* ---- node.c ---- */

struct sim_node {
	struct sim *sim;
	uint64_t id;
	struct sim_disk *disk;
	struct log log;
	struct sim_heap heap;
	struct raft_member *member; /* NULL: it is down */
	unsigned int life; /* of the process; events of earlier ones are void */
	bool ending; /* a callback said that the process must end */
	bool paused; /* the process does not run, its clock does */
	bool retired; /* it is out of the group, and will not be started again */

	/* its vote, in the eyes of the operator */
	bool added; /* it has one, or is one of the first */
	bool removing, removed; /* it was asked for; it is done */

	/* its clock: rate per million, since the last change */
	uint64_t clock_at, clock_base, clock_rate;

	/* its state machine: the identities of applied entries */
	uint64_t *applied; /* by index; 0: none */
	size_t room;
	uint64_t applied_to, durable_to; /* indexes */
	uint64_t filling; /* its state is being replaced by that of this node; 0: not */
	uint64_t fill_index; /* the entries that the new state must have */

	struct sim_call *calls; /* that wait for an answer */
	uint64_t elected; /* the newest term that libraft led */
	uint64_t judged; /* committed entries up to here were compared */
	uint64_t leads; /* the term, since leader_gained(); 0: it does not */
	uint64_t disk_ns; /* how long a write of the log takes */
	bool writing;
};

/* The next store: one of the first of the group, or an empty one. */
struct sim_node *sim_node_new(struct sim *sim, bool empty);
void sim_node_free(struct sim_node *node);
void sim_node_start(struct sim_node *node);
void sim_node_retire(struct sim_node *node);
/* kill -9, or a loss of power. */
void sim_node_crash(struct sim_node *node, bool power);
uint64_t sim_node_clock(const struct sim_node *node);
void sim_node_set_rate(struct sim_node *node, uint64_t rate);
/* The state of node becomes that of the node that it is filled from.  false: that one is not able to. */
bool sim_node_fill(struct sim_node *node);
void sim_node_propose(struct sim_node *node);
void sim_node_read(struct sim_node *node);

/* ---- sim.c: events ---- */

enum sim_event_kind {
	SIM_TICK, /* of a node */
	SIM_MESSAGE, /* for a node */
	SIM_WRITE, /* the log of a node is written */
	SIM_COLLECT,
	SIM_CHECKPOINT, /* is done */
	SIM_FILL, /* is done */
	SIM_START, /* of a node that is down */
	SIM_CLIENT, /* calls of clients */
	SIM_NEMESIS,
	SIM_OPERATOR, /* changes the group */
	SIM_RESUME, /* of a node that is paused */
	SIM_AMBUSH, /* a follower restarts while another member asks for its vote */
	SIM_CRASH, /* of a node */
	SIM_DISK, /* of a node has space again, or is fast again */
	SIM_RETIRE, /* a node that was removed is switched off */
	SIM_KINDS
};

struct sim_event {
	uint64_t at;
	uint64_t order; /* of events at the same time */
	enum sim_event_kind kind;
	uint64_t node; /* index; SIM_NODES: none */
	unsigned int life; /* of the node; 0: any */
	uint64_t from;
	void *data;
	size_t len;
};

struct sim {
	uint64_t seed;
	struct rnd rnd;
	uint64_t now; /* ns */
	uint64_t order;
	struct sim_event *events; /* a heap */
	size_t n, room;
	struct sim_node nodes[SIM_NODES];
	unsigned int n_nodes; /* that were made */

	/* the network */
	bool cut[SIM_NODES][SIM_NODES]; /* from, to */
	unsigned int loss, twice; /* per thousand */
	uint64_t delay, late; /* ns: usual and longest delay */
	bool calm; /* no more faults */
	unsigned int
		kill_new; /* per thousand: leaders that die as soon as they are elected */

	/* judge.c */
	uint64_t *history; /* by index: the identity of the entry */
	size_t history_room;
	uint64_t history_to;
	uint64_t *terms; /* of committed entries, by index */
	size_t terms_room;
	uint64_t *leaders; /* node by term */
	size_t leaders_room;
	uint64_t next_id; /* of an entry */
	uint64_t acknowledged; /* number of them */
	uint64_t acknowledged_to; /* highest index */
	uint64_t reads, leaders_n; /* reads under a lease; leaders */
	unsigned int joined, left; /* members that were added and removed */
	bool failed;
	bool verbose;
};

void sim_add(struct sim *sim, uint64_t after, const struct sim_event *event);
void sim_note(struct sim *sim, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* ---- net.c ---- */

int sim_net_send(struct sim_node *from, uint64_t to, const void *data,
		 size_t len);

/* ---- nemesis.c ---- */

void sim_nemesis(struct sim *sim);
void sim_ambush(struct sim *sim, struct sim_node *voter);
void sim_crash(struct sim *sim, struct sim_node *node, bool power);
void sim_nemesis_end(struct sim *sim);

/* ---- group_changes.c ---- */

void sim_change_group(struct sim *sim);

/* ---- judge.c ---- */

/* Something that must never happen; the run ends. */
void sim_fail(struct sim *sim, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void judge_applied(struct sim_node *node, uint64_t index, uint64_t id);
/* Entry id was acknowledged by this node. */
void judge_acknowledged(struct sim_node *node, uint64_t id);
/* This node answers a read under its lease. */
void judge_read(struct sim_node *node);
void judge_leases(struct sim *sim);
/* Compares committed entries, and leaders of one term.  true: the node was just elected. */
bool judge_member(struct sim_node *node);
/* After a calm time. */
void judge_end(struct sim *sim);

#endif
