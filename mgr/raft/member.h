/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * member.h - a member of a group of managers that agree on one log of entries (Raft; by libraft).
 *
 * 	member_start() --> member_receive(), member_tick(), member_collect() --> member_stop()
 * 	                   leader: member_propose() --> done()
 * 	                   everybody: apply() of each committed entry, in order
 *
 * Entries.  A leader proposes entries.  An entry is committed once a majority of the voters has stored it
 * durably.  Each member gives each committed entry to apply() once, in the order of the index.  An entry
 * knows its own index and term, and both are checked before apply().  apply() also gets the leader's own
 * entries; `own` tells it that this process proposed them.
 *
 * Terms.  A term has at most one leader.  A new leader first commits an entry of its own term, and only
 * then is leader_gained() called.  From leader_lost() on, the process must end: calls that
 * wait for an answer get none.  A transfer that was started always ends the leadership.
 *
 * Lease.  While member_lease_valid() is true, no other member leads.  The caller must check it after it
 * has read what it answers.
 *
 * Restarts.  restart() is called if the files of the member are right, and libraft cannot go on with them as
 * they are now.  Then the member must be stopped and started again, in the same process or another one.
 *
 * Failures.  failed() is called once if the member can never continue: a write or a sync failed, files are
 * damaged, or libraft met something impossible.  Then the process must end.  No other function of the
 * member may then be called except member_abandon().
 *
 * Start.  For one election timeout a member that was started neither votes nor stands for election,
 * because it may have promised this before it ended (leader_lease.h).
 *
 * Threads.  All functions are for one thread, the event loop, and all callbacks are called in it, except
 * submitted() and completed() of the disk's part (struct member_log_thread).  Callbacks may call
 * member_propose(), member_barrier() and member_get_status(), and none of the other functions.
 */
#ifndef MEMBER_H
#define MEMBER_H

#include "common/util/log.h"
#include "mgr/raft/raft_disk.h"

#define MEMBERS_MAX 16u /* in a group */

struct raft_member;

/* ---- what a member uses ---- */

struct member_clock {
	void *arg;
	uint64_t (*now)(void *arg); /* ns; CLOCK_BOOTTIME */
	int (*random)(void *arg, int min, int max); /* min <= result <= max */
};

/*
 * Sends a message to a member: lost, late, twice and out of order are all allowed.  The data is not used
 * after the call.  An error is the same as a loss.  Messages that arrive are given to
 * member_receive().  The transport must know which member it is connected to.
 */
struct member_peers {
	void *arg;
	int (*send)(void *arg, uint64_t to, const void *data, size_t len);
};

/*
 * How the log is written.  Both functions NULL: a thread of the member, and wake() is called in it when
 * member_collect() has work.  Otherwise submitted() says that member_write_log() has work.
 */
struct member_log_thread {
	void *arg;
	void (*wake)(void *arg);
	void (*submitted)(void *arg);
};

struct member_entry {
	uint64_t index, term;
	const void *data;
	size_t len;
	bool own; /* proposed by this process in its present term */
};

struct member_callbacks {
	void *arg;
	/* An entry is committed.  An error is final. */
	int (*apply)(void *arg, const struct member_entry *entry);
	/* This process leads: all entries of earlier terms are applied. */
	void (*leader_gained)(void *arg, uint64_t term);
	void (*leader_lost)(void *arg, const char *why);
	void (*restart)(void *arg, const char *why);
	void (*failed)(void *arg, const char *why);
	/*
	 * Make all entries up to index durable in the state machine, and then call
	 * member_checkpointed().  From then on the log may forget them.  The last of them, which has this
	 * term, may be one that apply() did not get.
	 */
	void (*checkpoint)(void *arg, uint64_t index, uint64_t term);
	/*
	 * This member lacks entries that the others have forgotten.  Replace the state machine by that of
	 * member `from`, as of index or later, durably, and then call member_filled().
	 */
	void (*fill)(void *arg, uint64_t from, uint64_t index, uint64_t term);
};

struct member_attr {
	uint64_t id;
	uint64_t group;
	struct raft_disk disk; /* its folder is the member's */
	struct member_clock clock;
	struct member_peers peers;
	struct member_log_thread log_thread;
	struct member_callbacks callbacks;
	/* Entries up to here are in the state machine already, durably. */
	uint64_t applied;
	unsigned int
		election_ms; /* a leader that is silent is replaced after 1 to 2 times this */
	unsigned int
		heartbeat_ms; /* member_tick() is called at least twice in it */
	/*
	 * Bytes; a multiple of 4096, at least 65536; the same at all members.  0: ENTRY_LOG_SEGMENT.  Below
	 * 6 MiB it limits the size of entries.
	 */
	uint32_t segment_size;
	uint64_t log_limit; /* bytes on disk, and about as many in memory */
	uint64_t checkpoint_bytes; /* log between two checkpoints */
	uint64_t trailing_bytes; /* log that is kept after a checkpoint, for members that lag */
	const struct log *log;
};

/* ---- files; the member is not started ---- */

struct member_address {
	uint64_t id;
	const char *address; /* for the caller; each member has another one */
};

/* Whether the folder has the files of a member. */
int member_exists(const struct raft_disk *disk, bool *exists);
/*
 * Makes the files of a new member.  n > 0: it is one of the n first voters of a new group; each of
 * them must get the same list.  n = 0: an existing group adds it later.  If it was interrupted, the same
 * call finishes it.  -EEXIST: the folder has a member, or the log of one.
 */
int member_create(const struct member_attr *attr,
		  const struct member_address *voters, size_t n);
/*
 * Makes the files of the only member of a new group, whose log begins after entry 1 with a snapshot.  So
 * each member that is added is filled with the whole state machine.  attr.applied is at least 1.  Errors as
 * member_create().  If it was interrupted, a call with any id and group finishes it.
 */
int member_found(const struct member_attr *attr,
		 const struct member_address *self);
/* Reads the group and the id of the member that owns the files.  -ENOENT: there are none.  -EIO: they are damaged. */
int member_identity(const struct raft_disk *disk, uint64_t *group,
		    uint64_t *id);
/*
 * The index of the snapshot in the log: the state machine must have all entries up to it; 0: none.
 * Errors: those of member_start().
 */
int member_snapshot_index(const struct member_attr *attr, uint64_t *index);
/* The last entry of the log, committed or not; 0: none.  Errors: those of member_start(). */
int member_last_entry(const struct member_attr *attr, uint64_t *index,
		      uint64_t *term);
/*
 * Makes these the only voters, without asking anybody, of a group with another number.  Entries that only
 * the others have are lost.  Members of the old group refuse this one, and it refuses them.
 */
int member_force(const struct member_attr *attr, uint64_t group,
		 const struct member_address *voters, size_t n);

/* ---- life ---- */

/*
 * apply() may be called before it returns.  -EIO: files are damaged: the member must be removed from the
 * group and added again, empty.  -ENOENT: there are none.  -ESTALE: they belong to another member.
 * -EINVAL: segment_size.  -ENOMEM.
 */
int member_start(const struct member_attr *attr, struct raft_member **m);
/*
 * Stores what was submitted, and frees the member.  No proposal is answered.  It may also be called after
 * leader_lost() and restart(), but not after failed().
 */
void member_stop(struct raft_member *m);
/*
 * Frees the member of a process that ends.  A write that has begun is finished; nothing else is stored.  The
 * memory of libraft stays allocated.
 */
void member_abandon(struct raft_member *m);

void member_receive(struct raft_member *m, const void *data, size_t len);
void member_tick(struct raft_member *m);
/* The log thread has called wake(). */
void member_collect(struct raft_member *m);
/* In place of a log thread: writes what was submitted; then member_collect() has work. */
void member_write_log(struct raft_member *m);
/* checkpoint() is done.  -errno: it failed, and the next member_tick() asks for it again. */
void member_checkpointed(struct raft_member *m, int rc);
/* fill() is done: the state machine has all entries up to `applied`, durably.  rc: -errno, which is final. */
void member_filled(struct raft_member *m, int rc, uint64_t applied);

/* ---- the leader ---- */

typedef void (*member_done)(void *arg, int rc);

/*
 * Proposes an entry; copies the data.  done(arg, 0): it is committed and applied.  If the leadership is
 * lost before, done() is never called.  -ENOTCONN: not the leader, or a transfer has begun.  -ENOSPC: the disk
 * is full, or the log is at its limit because checkpoints do not finish.  -EAGAIN: too much is in flight;
 * try again when some of it is done.  -EMSGSIZE: above MEMBER_ENTRY_MAX, or it never fits into a segment
 * beside the reserve, which is at most a quarter of it.  -ENOMEM.
 */
#define MEMBER_ENTRY_MAX ((4u << 20) - 64u)
int member_propose(struct raft_member *m, const void *data, size_t len,
		   member_done done, void *arg);
/* done(arg, 0): all entries that were proposed before are committed and applied.  Errors: as above. */
int member_barrier(struct raft_member *m, member_done done, void *arg);
bool member_lease_valid(struct raft_member *m);

/*
 * Changes of the group, one at a time.  -EBUSY: another one is going on.  -ENOTCONN: not the leader.
 * -EEXIST, -ENOENT: the member is, or is not, in the group.  -EINVAL: id 0, an address that is empty or
 * longer than 255 bytes, a group of MEMBERS_MAX members, or the removal of the leader, which must hand over
 * first.  -ENOSPC: the log has no space for the change.
 * -ENOMEM.  A member that was added has no vote.
 */
int member_add(struct raft_member *m, const struct member_address *new,
	       member_done done, void *arg);
/*
 * Gives a vote to a member without one.  Errors: as above; -EAGAIN: it does not answer, or lacks too many
 * entries, which it gets from the first call on; try again.  done(arg, -ETIMEDOUT): it did not get them in time.
 */
int member_promote(struct raft_member *m, uint64_t id, member_done done,
		   void *arg);
int member_remove(struct raft_member *m, uint64_t id, member_done done,
		  void *arg);
/*
 * Gives up the lease at once, lets all proposals finish, and makes another member lead; to 0: any.
 * leader_lost() follows, whether it succeeds or not.  -ENOTCONN: not the leader, or a transfer has begun.
 * -EBUSY: a change of the group is going on.  -ENOENT: no other voter has this id, or there is none.
 */
int member_transfer(struct raft_member *m, uint64_t to);

/* ---- status ---- */

enum member_role { MEMBER_FOLLOWER, MEMBER_CANDIDATE, MEMBER_LEADER };

struct member_peer_status {
	uint64_t id;
	const char *address; /* until the next call of any function */
	bool voter;
	uint64_t lag; /* leader only: entries that it has not confirmed */
	bool recent; /* leader only: it answered a message of the last election_ms */
};

struct member_status {
	enum member_role role;
	uint64_t term;
	uint64_t leader; /* 0: unknown */
	bool lease;
	uint64_t first, last, stored, committed, applied,
		snapshot; /* indexes */
	uint64_t log_bytes, log_limit; /* on disk */
	bool log_full; /* the disk is */
	bool has_reserve; /* the log has space for some more leaders and changes of the group */
	unsigned int n;
	struct member_peer_status peers[MEMBERS_MAX]; /* this member too */
};
void member_get_status(struct raft_member *m, struct member_status *status);
/* NULL: the group has no such member. */
const struct member_peer_status *
member_status_find(const struct member_status *status, uint64_t id);

#endif
