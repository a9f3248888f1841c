/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sim.h - managers in one process, with a simulated network, disks and clocks.  The seed determines
 * all events, so a seed that failed can be run again.
 *
 *   sim.c		runs the events, in order of time
 *   node.c	a manager: a member, its state machine, its crashes
 *   net.c		messages: late, lost, repeated, out of order; one-way partitions
 *   disk.c	files: a power failure may lose or tear data that was not synced
 *   nemesis.c	faults
 *   group_changes.c	adds and removes managers
 *   judge.c	checks that must always hold
 */
#ifndef SIM_H
#define SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mgr/raft/member.h"
#include "tests/raft_sim/sim_disk.h"
#include "tests/unit/rnd.h"

#define SIM_FIRST 3u /* number of managers that create the group */
/* maximum number of managers, with those that are added later */
#define SIM_NODES 10u
#define SIM_MS UINT64_C(1000000)
#define SIM_HEARTBEAT_MS 50u

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
	struct raft_member *member; /* NULL: the process does not run */
	/* number of the process; events of earlier processes are ignored */
	unsigned int life;
	bool ending; /* a callback has reported that the process must end */
	bool paused; /* the process is stopped, but its clock continues */
	/* it was removed from the group, and is not started again */
	bool retired;

	/* state of its vote, as far as the operator knows it */
	bool added; /* it has a vote, or is one of the first managers */
	/* its removal was requested; its removal is complete */
	bool removing, removed;

	/* its clock: the rate per million, and where it began at the last change of the rate */
	uint64_t clock_at, clock_base, clock_rate;

	/* its state machine: the identities of applied entries */
	uint64_t *applied; /* by index; 0: none */
	size_t room;
	/* indexes up to which entries are applied, and durable */
	uint64_t applied_to, durable_to;
	/* the state of this node replaces its state at the moment; 0: none */
	uint64_t filling;
	/* index up to which the new state must have the entries */
	uint64_t fill_index;

	struct sim_call *calls; /* calls that wait for an answer */
	uint64_t elected; /* the newest term in which libraft led */
	uint64_t judged; /* index up to which committed entries were compared */
	/* the term since leader_gained(); 0: it does not lead */
	uint64_t leads;
	uint64_t disk_ns; /* duration of a write of the log */
	bool writing;
};

/* Creates the next manager: one of the first of the group, or (empty) one with an empty store. */
struct sim_node *sim_node_new(struct sim *sim, bool empty);
void sim_node_free(struct sim_node *node);
void sim_node_start(struct sim_node *node);
void sim_node_retire(struct sim_node *node);
/* Ends the process, as by kill -9; power: also cuts the power of its host. */
void sim_node_crash(struct sim_node *node, bool power);
uint64_t sim_node_clock(const struct sim_node *node);
void sim_node_set_rate(struct sim_node *node, uint64_t rate);
/*
 * Completes the replacement of the state of node by that of the node `filling`.  Returns false if
 * that node cannot supply it.
 */
bool sim_node_fill(struct sim_node *node);
void sim_node_propose(struct sim_node *node);
void sim_node_read(struct sim_node *node);

/* ---- sim.c: events ---- */

enum sim_event_kind {
	SIM_TICK, /* a node calls its timers */
	SIM_MESSAGE, /* a message arrives at a node */
	SIM_WRITE, /* a write of a node's log is complete */
	SIM_COLLECT,
	SIM_CHECKPOINT, /* a checkpoint is complete */
	SIM_FILL, /* the new state of a node is complete */
	SIM_START, /* a process is started */
	SIM_CLIENT, /* clients make calls */
	SIM_NEMESIS,
	SIM_OPERATOR, /* the operator changes the group */
	SIM_RESUME, /* a stopped process continues */
	SIM_AMBUSH, /* a follower restarts while another member asks for its vote */
	SIM_CRASH, /* a node crashes */
	SIM_DISK, /* the disk of a node has space, or is fast, again */
	SIM_RETIRE, /* a removed node is switched off */
	SIM_KINDS
};

struct sim_event {
	uint64_t at;
	uint64_t order; /* order among events of the same time */
	enum sim_event_kind kind;
	uint64_t node; /* index of the node; SIM_NODES: none */
	unsigned int life; /* process of the node; 0: any */
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
	unsigned int n_nodes; /* number of nodes that exist */

	/* the network; cut: messages from the first node to the second are lost */
	bool cut[SIM_NODES][SIM_NODES];
	/* per thousand: messages that are lost, or that arrive twice */
	unsigned int loss, twice;
	uint64_t delay, late; /* ns: usual and longest delay */
	bool calm; /* no more faults are caused */
	unsigned int
		/* per thousand: leaders that are killed as soon as they are elected */
		kill_new;
	uint64_t handed_over; /* when a leader did so without faults; 0: it did not */

	/* judge.c */
	uint64_t *history; /* by index: the identity of the entry */
	size_t history_room;
	uint64_t history_to;
	uint64_t *terms; /* terms of the committed entries, by index */
	size_t terms_room;
	uint64_t *leaders; /* the leader of each term */
	size_t leaders_room;
	uint64_t next_id; /* identity of the next entry */
	uint64_t acknowledged; /* number of acknowledged entries */
	uint64_t acknowledged_to; /* highest acknowledged index */
	/* number of reads under a lease, and of leaders */
	uint64_t reads, leaders_n;
	/* number of members that were added, and removed */
	unsigned int joined, left;
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
/* After the end of the faults: the leader hands over. */
void sim_calm_transfer(struct sim *sim);

/* ---- group_changes.c ---- */

void sim_change_group(struct sim *sim);

/* ---- judge.c ---- */

/* Reports a violation and ends the run. */
void sim_fail(struct sim *sim, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void judge_applied(struct sim_node *node, uint64_t index, uint64_t id);
/* Called when this node acknowledges entry id. */
void judge_acknowledged(struct sim_node *node, uint64_t id);
/* Called when this node answers a read under its lease. */
void judge_read(struct sim_node *node);
void judge_leases(struct sim *sim);
/* This node leads: after a transfer without faults it does not wait for a heartbeat. */
void judge_transfer(struct sim_node *node);
/*
 * Compares committed entries, and the leaders of one term.  Returns true if the node was just
 * elected.
 */
bool judge_member(struct sim_node *node);
/* Called at the end of a run, after a time without faults. */
void judge_end(struct sim *sim);

#endif
