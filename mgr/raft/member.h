/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * member.h - a member of a group of managers that agree on one log of entries (Raft; by libraft).
 *
 * 	member_start() --> member_receive(), member_tick(), member_collect() --> member_stop()
 * 	                   leader: member_propose() --> done()
 * 	                   each member: apply() of each committed entry, in order
 *
 * Entries.  A leader proposes entries.  An entry is committed once a majority of the voters has
 * stored it durably.  Each member passes each committed entry to apply() once, in the order of the
 * index.  An entry contains its own index and term, which are checked before apply().  apply() also
 * gets the entries that this process proposed; it sees this in `own`.
 *
 * Terms.  A term has at most one leader.  A new leader first commits an entry of its own term; then
 * leader_gained() is called.  After leader_lost(), stop the member; it can be started again.
 * Pending proposals are never answered.  Once a transfer has started, the leadership ends in any
 * case.
 *
 * Lease.  While member_lease_valid() is true, no other member leads.  To answer a request, the
 * caller first reads the data and then checks the lease.
 *
 * Restarts.  restart() is called if the files of the member are correct, but libraft cannot
 * continue from its state in memory.  The member must then be stopped and started again, in the
 * same process or another one.
 *
 * Failures.  failed() is called once if the member can never continue: a write or a sync failed,
 * files are damaged, or libraft met something impossible.  The process must then end.  The only
 * function of the member that may still be called is member_abandon().
 *
 * Start.  For one election timeout after its start, a member neither votes nor stands for election,
 * because it may have promised this before it stopped (leader_lease.h).
 *
 * Threads.  All functions are for one thread, the event loop.  All callbacks are called in it,
 * except those of struct member_log_thread.  Callbacks may only call member_propose(),
 * member_barrier() and member_get_status().
 */
#ifndef MEMBER_H
#define MEMBER_H

#include "common/util/log.h"
#include "common/util/disk_folder.h"

#define MEMBERS_MAX 16u /* in a group */

struct raft_member;

/* ---- what a member uses ---- */

struct member_clock {
	void *arg;
	uint64_t (*now)(void *arg); /* ns; CLOCK_BOOTTIME */
	int (*random)(void *arg, int min, int max); /* min <= result <= max */
};

/*
 * Sends a message to a member.  Messages may be lost, late, duplicated or reordered.  An error
 * counts as a loss.  send() must copy the data.  At the receiver, the transport passes the message
 * to member_receive().  The transport must know which member it is connected to.
 */
struct member_peers {
	void *arg;
	int (*send)(void *arg, uint64_t to, const void *data, size_t len);
};

/*
 * Which thread writes the log.  If submitted is NULL, the member starts a thread for it, and this
 * thread calls wake() when member_collect() has work.  Otherwise the member calls submitted() when
 * member_write_log() has work.
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
	 * Must make all entries up to index durable in the state machine, and then call
	 * member_checkpointed().  The log may then remove them.  The entry at index has this term;
	 * it may be one that apply() did not get.
	 */
	void (*checkpoint)(void *arg, uint64_t index, uint64_t term);
	/*
	 * Called if the other members have removed entries that this member does not have.  It must
	 * durably replace the state machine by a copy from member `from`, which contains all
	 * entries up to index, and then call member_filled().
	 */
	void (*fill)(void *arg, uint64_t from, uint64_t index, uint64_t term);
};

struct member_attr {
	uint64_t id;
	uint64_t group;
	struct disk_folder disk; /* its folder is the member's */
	struct member_clock clock;
	struct member_peers peers;
	struct member_log_thread log_thread;
	struct member_callbacks callbacks;
	/* The state machine already has the entries up to here, durably. */
	uint64_t applied;
	unsigned int
		election_ms; /* a leader that is silent is replaced after 1 to 2 times this */
	unsigned int
		heartbeat_ms; /* member_tick() is called at least twice in it */
	/*
	 * Bytes; a multiple of 4096, at least 65536; the same at all members.  0:
	 * ENTRY_LOG_SEGMENT. A value below 6 MiB also limits the size of entries.
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
	const char *address; /* for the caller's use; unique in the group */
};

/* Whether the folder contains the files of a member. */
int member_exists(const struct disk_folder *disk, bool *exists);
/*
 * Makes the files of a new member.  n > 0: it is one of the n first voters of a new group, which
 * must all get the same list.  n = 0: an existing group adds it later.  After an interruption,
 * repeat the same call.  -EEXIST: the folder contains a member, or the log of one.
 */
int member_create(const struct member_attr *attr,
		  const struct member_address *voters, size_t n);
/*
 * Makes the files of the only member of a new group.  Its log begins with a snapshot after entry 1.
 * So each member that is added later is filled with the whole state machine.  attr.applied is at
 * least 1.  Errors as member_create().  After an interruption, repeat the call with any id and
 * group.
 */
int member_found(const struct member_attr *attr,
		 const struct member_address *self);
/*
 * Reads the group and the id of the member that owns the files.  -ENOENT: there are none.  -EIO:
 * they are damaged.
 */
int member_identity(const struct disk_folder *disk, uint64_t *group,
		    uint64_t *id);
/*
 * Sets *index to the index of the snapshot in the log; 0: there is no snapshot.  The state machine
 * must have all entries up to it.  Errors: those of member_start().
 */
int member_snapshot_index(const struct member_attr *attr, uint64_t *index);
/*
 * Sets *index and *term to those of the last entry of the log, committed or not; 0: the log is
 * empty.  Errors: those of member_start().
 */
int member_last_entry(const struct member_attr *attr, uint64_t *index,
		      uint64_t *term);
/*
 * Makes these members the only voters of a group with another number, without asking any member.
 * Entries that only other members have are lost.  Members of the old group and this one reject each
 * other's messages.
 */
int member_force(const struct member_attr *attr, uint64_t group,
		 const struct member_address *voters, size_t n);

/* ---- life ---- */

/*
 * apply() may be called before member_start() returns.  -EIO: files are damaged; remove the member
 * from the group and add it again, empty.  -ENOENT: there are no files.  -ESTALE: the files belong
 * to another member.  -EINVAL: segment_size.  -ENOMEM.
 */
int member_start(const struct member_attr *attr, struct raft_member **m);
/*
 * Stores what was submitted, and frees the member.  Pending proposals are never answered.  Also
 * allowed after leader_lost() and restart(), but not after failed().
 */
void member_stop(struct raft_member *m);
/*
 * Frees the member when the process ends.  A write in progress is finished; nothing else is stored.
 * The memory of libraft stays allocated.
 */
void member_abandon(struct raft_member *m);

/*
 * Returns true if the message had entries that are being stored.  send() of the result follows then,
 * unless the member stops or the entries are replaced.  In all other cases, send() of the result has
 * been called, or there is none.
 */
bool member_receive(struct raft_member *m, const void *data, size_t len);
void member_tick(struct raft_member *m);
/* Call it after the log thread has called wake(). */
void member_collect(struct raft_member *m);
/* Without a log thread: writes what was submitted; then member_collect() has work. */
void member_write_log(struct raft_member *m);
/* checkpoint() is done.  rc: -errno: it failed; the next member_tick() requests it again. */
void member_checkpointed(struct raft_member *m, int rc);
/*
 * fill() is done: the state machine has all entries up to `applied`, durably.  rc: -errno is final.
 */
void member_filled(struct raft_member *m, int rc, uint64_t applied);

/* ---- the leader ---- */

typedef void (*member_done)(void *arg, int rc);

/*
 * Proposes an entry; copies the data.  done(arg, 0): the entry is committed and applied.  If the
 * member loses the leadership before that, done() is never called.  -ENOTCONN: not the leader, or a
 * transfer has begun.  -ENOSPC: the disk is full, or the log is at its limit because checkpoints do
 * not finish.  -EAGAIN: too much is in flight; try again when some of it is done.  -EMSGSIZE: above
 * MEMBER_ENTRY_MAX, or too large for a segment less its reserve (at most a quarter of the segment).
 * -ENOMEM.
 */
#define MEMBER_ENTRY_MAX ((4u << 20) - 64u)
int member_propose(struct raft_member *m, const void *data, size_t len,
		   member_done done, void *arg);
/*
 * done(arg, 0): all entries that were proposed before are committed and applied.  Errors: as above.
 */
int member_barrier(struct raft_member *m, member_done done, void *arg);
bool member_lease_valid(struct raft_member *m);

/*
 * Changes of the group, one at a time.  -EBUSY: another change is in progress.  -ENOTCONN: not the
 * leader. -EEXIST, -ENOENT: the member is, or is not, in the group.  -EINVAL: id 0, an address that
 * is empty or longer than 255 bytes, a group of MEMBERS_MAX members, or the removal of the leader,
 * which must hand over first.  -ENOSPC: the log has no space for the change. -ENOMEM.  A member
 * that was added has no vote.
 */
int member_add(struct raft_member *m, const struct member_address *new,
	       member_done done, void *arg);
/*
 * Gives a vote to a member without one.  Errors: as above; -EAGAIN: the member does not answer, or
 * lacks too many entries; try again (the first call makes the leader send them).  done(arg,
 * -ETIMEDOUT): the member did not get the entries in time.
 */
int member_promote(struct raft_member *m, uint64_t id, member_done done,
		   void *arg);
int member_remove(struct raft_member *m, uint64_t id, member_done done,
		  void *arg);
/*
 * Gives up the lease at once, lets all proposals finish, and makes another member lead; to 0: any
 * member.  leader_lost() follows, whether the transfer succeeds or not.  -ENOTCONN: not the leader,
 * or a transfer has begun.  -EBUSY: a change of the group is in progress.  -ENOENT: no other voter
 * has this id, or there is no other voter.
 */
int member_transfer(struct raft_member *m, uint64_t to);

/* ---- status ---- */

enum member_role { MEMBER_FOLLOWER, MEMBER_CANDIDATE, MEMBER_LEADER };

struct member_peer_status {
	uint64_t id;
	const char *address; /* until the next call of any function */
	bool voter;
	uint64_t lag; /* leader only: entries that this member has not confirmed */
	bool recent; /* leader only: this member answered a message of the last election_ms */
};

struct member_status {
	enum member_role role;
	uint64_t term;
	uint64_t leader; /* 0: unknown */
	bool lease;
	uint64_t first, last, stored, committed, applied,
		snapshot; /* indexes */
	uint64_t log_bytes, log_limit; /* on disk */
	bool log_full; /* the disk of the log is full */
	bool has_reserve; /* the log has space for some elections and changes of the group */
	unsigned int n;
	struct member_peer_status peers[MEMBERS_MAX]; /* includes this member */
};
void member_get_status(struct raft_member *m, struct member_status *status);
/* NULL: the group has no such member. */
const struct member_peer_status *
member_status_find(const struct member_status *status, uint64_t id);

#endif
