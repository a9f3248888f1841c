/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * group.h - this manager as one of several: its member of the group (mgr/raft), and its store,
 * which applies the log of the group.
 *
 * 	mgr_group_open() --> GROUP_FOLLOWS: the store applies committed entries
 * 	             --> GROUP_ELECTED: mgr_group_lead() --> GROUP_LEADS: transactions; mgr_group_log()
 * 	             --> GROUP_LOST: the leadership has ended, which is logged; close the group and
 * 	                 the store, and open them again
 * 	             --> GROUP_ENDED: the process must end; the reason is logged
 *
 * Files.  The folder "raft" in the storage of the manager contains the log of the group.  The store
 * records the index up to which it has applied the log.  Neither can be used without the other.
 *
 * Errors.  In addition to the errors that its comment names, a function with the parameter storage
 * may return an error of opening the folder "raft", which it logs.
 *
 * Threads.  All functions are for the thread of the ctx.  No transaction may be open.  When the
 * member's log thread has stored something, it wakes the ctx, which must call mgr_group_collect().
 * All other work is done by timers of the ctx.
 */
#ifndef GROUP_H
#define GROUP_H

#include "common/comm/rpc.h"
#include "mgr/raft/member.h"
#include "mgr/state/flusher.h"

struct mgr_group;

/* A leader that is silent for once to twice this time is replaced. */
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
	const char *storage; /* storage directory of the manager */
	uint64_t fsid;
	struct store *st; /* opened with attr.replicated; outlives the group */
	struct checkpointer *cp;
	struct rpc_ctx *ctx;
	/* number of the group, and id of this member; not 0 */
	uint64_t group, id;
	/* maximum bytes of the log; 0 means GROUP_LOG_LIMIT */
	uint64_t log_limit;
	/*
	 * Used if the storage contains no member yet. If n > 0, these are the first voters of a new
	 * group. `founds` means that this manager is the only voter, and that its database may have
	 * any content. If n is 0, the group adds this manager later.
	 */
	const struct member_address *voters;
	size_t n;
	bool founds;
	/* sends to the other members; their messages go to mgr_group_receive() */
	struct member_peers peers;
	/*
	 * Called if the store lacks entries that the other members have deleted.  It must copy the
	 * store of member `from` to this member's second store.  When the copy durably has all
	 * entries up to index, the caller calls mgr_group_note_filled(index).  If the copy fails,
	 * it calls mgr_group_give_up().
	 */
	void (*fill)(void *arg, uint64_t from, uint64_t index);
	/*
	 * Called repeatedly while a function below waits. If it returns false, the function stops
	 * waiting, because the manager stops.
	 */
	bool (*goes_on)(void *arg);
	void *arg;
	const struct log *log;
};

/*
 * Reads which member the storage contains. Returns -ENOENT if there is none yet. Other errors are
 * logged, and are those of member_identity().
 */
int mgr_group_identity(const char *storage, const struct log *log,
		       uint64_t *group, uint64_t *id);
/*
 * Sets *index to the snapshot in the log, or to 0 if there is none. The database must have all
 * entries up to it, because the log has only the later ones. Errors are logged, and are those of
 * member_start().
 */
int mgr_group_needs(const char *storage, const struct log *log,
		    uint64_t *index);
/*
 * Reads the last entry in the log of the member, committed or not. Errors are logged, and are those
 * of member_start().
 */
int mgr_group_last(const char *storage, const struct log *log, uint64_t *index,
		   uint64_t *term);
/*
 * Makes the member of this storage the only voter of a group with another number. The manager must
 * not be running. Errors are logged, and are those of member_force().
 */
int mgr_group_force(const char *storage, const struct log *log,
		    const char *address, uint64_t group);
/*
 * Turns the database of a single manager into that of the only member of a new group. The manager
 * must not be running. After a crash, repeat the call. Errors are logged, and are those of
 * store_open(), random_id(), member_found() and of changes of the database; -EIO: the database
 * has already applied further entries of a group.
 */
int mgr_group_found(const char *storage, uint64_t cache_size,
		    const struct log *log, const char *address);

/*
 * Turns the manager back into a single manager.  Call it before the store is opened.
 *
 * leaves: if this manager is the only member of its group, applies all entries to the database,
 * takes it out of the group, and removes the folder "raft".  Whether leaves is set or not,
 * completes an interrupted call.  A member that was never added to a group counts as the only one.
 * 0: done, or there is no member.  -EPERM: the group has other members.  Other errors: those of
 * member_start() and store_open(); -ETIMEDOUT.  All are logged.
 */
int mgr_group_leave(const char *storage, uint64_t cache_size,
		    const struct log *log, bool leaves);

/*
 * Starts the member, and makes it if there is none.  attr.storage, voters and n are not used
 * afterwards.  Errors are logged, and are those of member_create() and member_start().
 */
int mgr_group_open(const struct group_attr *attr, struct mgr_group **g);
/* Call it before the store is closed.  g may be NULL. */
void mgr_group_close(struct mgr_group *g);

enum group_state mgr_group_state(const struct mgr_group *g);
/* Returns the term in which this manager was elected; 0 if it was not elected. */
uint64_t mgr_group_term(const struct mgr_group *g);
/* Return the id of this member, and the number of the group. */
uint64_t mgr_group_id(const struct mgr_group *g);
uint64_t mgr_group_number(const struct mgr_group *g);
void mgr_group_get_status(struct mgr_group *g, struct member_status *status);

/* Completes what the log thread has stored. */
void mgr_group_collect(struct mgr_group *g);
/*
 * Call it with each message of another member.  Returns the result of member_receive(), or false if
 * the group is over.
 */
bool mgr_group_receive(struct mgr_group *g, const void *data, size_t len);
/*
 * In state GROUP_ELECTED: makes the store ready for transactions, and waits until the group has
 * committed this. Returns 0; -ENOTCONN if the state is GROUP_LOST or GROUP_ENDED; -ECANCELED if
 * attr.goes_on() returned false; or an error of store_lead().
 */
int mgr_group_lead(struct mgr_group *g);
/*
 * Makes another manager lead. GROUP_LOST follows, whether it succeeds or not. Returns 0; -ENOTCONN
 * if the state is not GROUP_LEADS; or an error of member_transfer().
 */
int mgr_group_hand_over(struct mgr_group *g);
/*
 * These functions change the group, or its leader. They return 0; -ENOTCONN if the state is not
 * GROUP_LEADS; or an error of the function that they call: member_add(), member_promote(),
 * member_remove(), member_transfer().
 */
int mgr_group_add(struct mgr_group *g, const struct member_address *new);
int mgr_group_promote(struct mgr_group *g, uint64_t id);
int mgr_group_remove(struct mgr_group *g, uint64_t id, member_done done,
		     void *arg);
int mgr_group_transfer(struct mgr_group *g, uint64_t to);
/* Returns whether a change of the group is in progress. */
bool mgr_group_changes(const struct mgr_group *g);
/* For the caller of attr.fill, which describes it. GROUP_LOST follows. */
void mgr_group_note_filled(struct mgr_group *g, uint64_t index);
void mgr_group_give_up(struct mgr_group *g, const char *why);
/* Changes the state to GROUP_ENDED, and logs the reason `why`. */
void mgr_group_end(struct mgr_group *g, const char *why);
/* For flusher_open_replicated(). */
struct managers_log mgr_group_log(struct mgr_group *g);

#endif
