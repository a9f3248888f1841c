/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * group.h - this manager as one of several: a member of the group (mgr/raft), and the store that
 * follows the log of the group.
 *
 * 	mgr_group_open() --> GROUP_FOLLOWS: the store gets what others have committed
 * 	             --> GROUP_ELECTED: mgr_group_lead() --> GROUP_LEADS: transactions; mgr_group_log()
 * 	             --> GROUP_LOST: the leadership has ended, which is logged; close the group and
 * 	                 the store, and open them again
 * 	             --> GROUP_ENDED: the process must end; the reason is logged
 *
 * Files.  The folder "raft" in the storage of the manager has the log of the group.  The store has
 * recorded up to where it has applied the log.  Both belong together.
 *
 * Threads.  All functions are for the thread of the ctx.  No transaction may be open.  The log
 * thread of the member wakes the ctx; then mgr_group_collect() has work.  Timers of the ctx do the rest.
 */
#ifndef GROUP_H
#define GROUP_H

#include "common/comm/rpc.h"
#include "mgr/raft/member.h"
#include "mgr/state/flusher.h"

struct mgr_group;

enum group_state {
	GROUP_FOLLOWS,
	GROUP_ELECTED,
	GROUP_LEADS,
	GROUP_LOST,
	GROUP_ENDED
};

struct group_attr {
	const char *storage; /* of the manager */
	uint64_t fsid;
	struct store *st; /* opened with attr.replicated; outlives the group */
	struct checkpointer *cp;
	struct rpc_ctx *ctx;
	uint64_t id; /* of this member; not 0 */
	/* the first voters, for a manager without the folder "raft" */
	const struct member_address *voters;
	size_t n;
	/* to the other members, whose messages are for mgr_group_receive() */
	struct member_peers peers;
	const struct log *log;
};

/*
 * Joins the group.  attr.storage, voters and n are not used afterwards.  Errors are logged, and are
 * those of member_create() and member_start().
 */
int mgr_group_open(const struct group_attr *attr, struct mgr_group **g);
/* g may be NULL.  Before the store is closed. */
void mgr_group_close(struct mgr_group *g);

enum group_state mgr_group_state(const struct mgr_group *g);
/* The term in which this manager was elected; 0: none. */
uint64_t mgr_group_term(const struct mgr_group *g);
uint64_t mgr_group_id(const struct mgr_group *g); /* of this member */
void mgr_group_get_status(struct mgr_group *g, struct member_status *status);

/* Handles what the log thread has stored. */
void mgr_group_collect(struct mgr_group *g);
/* A message of another member. */
void mgr_group_receive(struct mgr_group *g, const void *data, size_t len);
/*
 * In GROUP_ELECTED: makes the store ready for transactions, and waits until the group has committed
 * that.  -ENOTCONN: GROUP_LOST or GROUP_ENDED; or an error of store_lead().
 */
int mgr_group_lead(struct mgr_group *g);
/*
 * In GROUP_LEADS: makes another manager lead.  GROUP_LOST follows, whether it succeeds or not.
 * Errors: member_transfer(); -ENOTCONN in all other states.
 */
int mgr_group_hand_over(struct mgr_group *g);
/* For flusher_open_replicated(). */
struct managers_log mgr_group_log(struct mgr_group *g);

#endif
