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

/* A leader that is silent is replaced after 1 to 2 times this. */
#define GROUP_ELECTION_MS 600u
#define GROUP_LOG_LIMIT (UINT64_C(256) << 20)

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
	uint64_t group, id; /* of the group, and of this member; not 0 */
	uint64_t log_limit; /* bytes of the log; 0: GROUP_LOG_LIMIT */
	/*
	 * For a manager without a member.  n > 0: the first voters of a new group.  founds: this manager
	 * is the only one, and its database may have any content.  n 0: the group adds it later.
	 */
	const struct member_address *voters;
	size_t n;
	bool founds;
	/* to the other members, whose messages are for mgr_group_receive() */
	struct member_peers peers;
	/*
	 * The store lacks entries that the others have deleted.  Copy that of member `from`, and call
	 * mgr_group_note_filled(index) when the second store of this member durably has all entries up
	 * to index.
	 * The group ends with GROUP_LOST if the copy cannot be made: mgr_group_give_up().
	 */
	void (*fill)(void *arg, uint64_t from, uint64_t index);
	/* Called again and again while a function below waits; false: the manager stops. */
	bool (*goes_on)(void *arg);
	void *arg;
	const struct log *log;
};

/*
 * Which member the storage has.  -ENOENT: none yet.  Other errors are logged, and are those of
 * member_identity().
 */
int mgr_group_identity(const char *storage, const struct log *log,
		       uint64_t *group, uint64_t *id);
/*
 * The index up to which the database must have all entries, because the log begins after it; 0: any.
 * Errors: those of member_start(), logged.
 */
int mgr_group_needs(const char *storage, const struct log *log,
		    uint64_t *index);
/*
 * The last entry in the log of the member, committed or not.  Errors: those of member_start(), logged.
 */
int mgr_group_last(const char *storage, const struct log *log, uint64_t *index,
		   uint64_t *term);
/*
 * A manager with the only voter, which does not run, leads a group of its own from now on, with another
 * number.  Errors: those of member_force(), logged.
 */
int mgr_group_force(const char *storage, const struct log *log,
		    const char *address, uint64_t group);
/*
 * The database of one manager, which does not run, becomes that of the only member of a new group.  Can be
 * repeated after a crash.  Errors: those of store_open() and member_found(), logged.
 */
int mgr_group_found(const char *storage, uint64_t cache_size,
		    const struct log *log, const char *address);

/*
 * Before the store is opened.  leaves: if this manager is the only member of its group, its database has all
 * entries and belongs to no group afterwards, and the folder "raft" is removed.  In any case it finishes what
 * an interrupted call began.  0 also if there is no member.  One that was never added to a group counts as
 * the only one.  -EPERM: the group has other members.  Other
 * errors: those of member_start() and store_open(); -ETIMEDOUT.  All are logged.
 */
int mgr_group_leave(const char *storage, uint64_t cache_size,
		    const struct log *log, bool leaves);

/*
 * Starts the member.  attr.storage, voters and n are not used afterwards.  Errors are logged, and are
 * those of member_create() and member_start().
 */
int mgr_group_open(const struct group_attr *attr, struct mgr_group **g);
/* g may be NULL.  Before the store is closed. */
void mgr_group_close(struct mgr_group *g);

enum group_state mgr_group_state(const struct mgr_group *g);
/* The term in which this manager was elected; 0: none. */
uint64_t mgr_group_term(const struct mgr_group *g);
/* Of this member, and of the group. */
uint64_t mgr_group_id(const struct mgr_group *g);
uint64_t mgr_group_number(const struct mgr_group *g);
void mgr_group_get_status(struct mgr_group *g, struct member_status *status);

/* Handles what the log thread has stored. */
void mgr_group_collect(struct mgr_group *g);
/* A message of another member. */
void mgr_group_receive(struct mgr_group *g, const void *data, size_t len);
/*
 * In GROUP_ELECTED: makes the store ready for transactions, and waits until the group has committed
 * that.  -ENOTCONN: GROUP_LOST or GROUP_ENDED; -ECANCELED: see attr.goes_on; or an error of store_lead().
 */
int mgr_group_lead(struct mgr_group *g);
/*
 * Makes another manager lead.  GROUP_LOST follows, whether it succeeds or not.  -ENOTCONN: the state is
 * not GROUP_LEADS; or an error of member_transfer().
 */
int mgr_group_hand_over(struct mgr_group *g);
/*
 * Change the group, or who leads it.  -ENOTCONN: the state is not GROUP_LEADS; or an error of the
 * function of mgr/raft/member.h that each of them calls: member_add(), member_promote(), member_remove(),
 * member_transfer().
 */
int mgr_group_add(struct mgr_group *g, const struct member_address *new);
int mgr_group_promote(struct mgr_group *g, uint64_t id);
int mgr_group_remove(struct mgr_group *g, uint64_t id, member_done done,
		     void *arg);
int mgr_group_transfer(struct mgr_group *g, uint64_t to);
/* A change of the group is going on. */
bool mgr_group_changes(const struct mgr_group *g);
/* See attr.fill.  GROUP_LOST follows. */
void mgr_group_note_filled(struct mgr_group *g, uint64_t index);
void mgr_group_give_up(struct mgr_group *g, const char *why);
/* GROUP_ENDED; logs why. */
void mgr_group_end(struct mgr_group *g, const char *why);
/* For flusher_open_replicated(). */
struct managers_log mgr_group_log(struct mgr_group *g);

#endif
