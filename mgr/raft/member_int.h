/* SPDX-License-Identifier: BSD-2-Clause */
/* member_int.h - for the files of the member. */
#ifndef MEMBER_INT_H
#define MEMBER_INT_H

#include <raft.h>
#include <sys/queue.h>

#include "mgr/raft/leader_lease.h"
#include "mgr/raft/log_index.h"
#include "mgr/raft/log_thread.h"
#include "mgr/raft/log_writer.h"
#include "mgr/raft/member.h"
#include "mgr/raft/peer_message.h"
#include "mgr/raft/vote_file.h"

/* The most AppendEntries results that wait until the leader's first entry is stored. */
#define HELD_MAX 32u

/* ---- entries ---- */

enum entry_kind { ENTRY_DATA = 1, ENTRY_TERM, ENTRY_BARRIER };

/* The start of each entry of type RAFT_COMMAND; little endian. */
struct command_head {
	uint64_t index, term;
	uint32_t kind;
	uint32_t zero;
};

/* -EINVAL: it is not the head of the entry with this index and term. */
int command_head_check(const struct raft_buffer *buf, uint64_t index,
		       uint64_t term, uint32_t *kind);

struct proposal {
	struct raft_buffer buf; /* raft_malloc(), until libraft gets it */
	uint64_t index; /* set when libraft gets it */
	member_done done; /* may be NULL */
	void *arg;
	STAILQ_ENTRY(proposal) link;
};
STAILQ_HEAD(proposals, proposal);

/* ---- requests of libraft whose callbacks are called later ---- */

struct send_request {
	struct raft_io_send *req;
	raft_io_send_cb cb;
	STAILQ_ENTRY(send_request) link;
};
STAILQ_HEAD(send_requests, send_request);

struct snapshot_request {
	struct raft_io_snapshot_get *req;
	raft_io_snapshot_get_cb cb;
	STAILQ_ENTRY(snapshot_request) link;
};
STAILQ_HEAD(snapshot_requests, snapshot_request);

/* ---- the member ---- */

struct raft_member {
	struct member_attr attr;
	struct raft raft;
	struct raft_io io;
	struct raft_fsm fsm;
	raft_io_tick_cb tick;
	raft_io_recv_cb recv;

	/* carries out what libraft has decided: see member_leave() */
	void (*follow)(struct raft_member *m);
	unsigned int depth; /* nesting of public functions */
	uint64_t turn; /* member_now() at the start of the outermost one */
	/*
	 * bytes of the log that are kept free for first entries of leaders and changes of the group
	 */
	uint64_t reserve;
	bool dead; /* failed, leadership lost, or it must restart */
	bool stopping;
	bool restart; /* it must restart once the log is stored */
	uint64_t retry_at; /* if the disk is full: the next attempt to make a segment */
	uint64_t quiet_until; /* until then it neither votes nor stands for election */

	/* the disk */
	struct vote_file vote;
	struct log_contents loaded; /* only while it starts */
	struct log_writer *writer;
	struct log_thread *thread; /* NULL: the caller writes */
	struct log_index index;
	/* The snapshot in the log: its place, and the members at that time. */
	struct {
		uint64_t index, term, conf_index;
		struct raft_configuration conf;
	} snapshot;
	/* A snapshot that is being stored. */
	struct {
		struct raft_io_snapshot_put *req; /* NULL: none */
		raft_io_snapshot_put_cb cb;
		bool install; /* the snapshot comes from another member */
		bool failed; /* the checkpoint failed, and is requested again */
		struct raft_buffer *bufs; /* if install: of libraft */
		uint64_t index, term, keep; /* entries from keep on are kept */
		void *data; /* of the snapshot's record */
		uint32_t len;
		struct log_record record;
		struct log_job job;
	} put;

	/* as a follower: the messages that this member has accepted in the term */
	struct {
		uint64_t term;
		uint64_t stamp; /* newest stamp of an AppendEntries */
		/* up to this index the log equals the leader's */
		uint64_t verified;
		/* the new value of verified if libraft accepts the message that it handles now */
		uint64_t handling;
		bool storing; /* that message had entries which libraft stores */
	} accepted;

	uint64_t led; /* the last term that this process led */
	/* the term that this process leads */
	struct {
		uint64_t term; /* 0: it does not lead */
		uint64_t index; /* of the first entry of the term */
		bool gained; /* that entry is applied */
		bool announced; /* leader_gained() was called */
		bool transfer; /* member_transfer() was called: the lease is void */
		bool transfer_started; /* raft_transfer() was called */
		bool handed_over; /* raft_transfer() has ended, or failed */
		uint64_t transfer_to;
		struct raft_message
			timeout_now; /* the one that libraft sent to transfer_to */
		struct leader_lease lease;
		struct raft_message held[HELD_MAX];
		unsigned int n_held;
	} lead;
	struct proposals waiting, flying, done;
	uint64_t waiting_space, flying_space;
	struct raft_apply apply;
	bool apply_busy;

	/* a change of the group */
	struct {
		bool busy;
		struct raft_change req;
		member_done done;
		void *arg;
		bool finished;
		int rc;
	} change;
	struct raft_transfer transfer;

	struct send_requests sent;
	struct snapshot_requests got;
};

/* member_turn.c */
uint64_t member_now(const struct raft_member *m);
/* The member can never continue.  The text states the cause and the remedy. */
void member_fail(struct raft_member *m, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* The member must stop, and can start again from its files. */
void member_want_restart(struct raft_member *m, const char *why);

/*
 * Each public function that calls libraft begins with member_enter() and ends with member_leave().
 * At the end of the outermost one, member_leave() carries out what libraft has decided.
 */
bool member_enter(struct raft_member *m); /* false: the member is dead */
void member_leave(struct raft_member *m);

/* member_disk.c: the part of struct raft_io for the disk. */
int member_open_files(struct raft_member *m);
void member_close_files(struct raft_member *m);
void member_disk_io(struct raft_io *io);
/* log_writer_work() has work. */
void member_wake_writer(void *member);
/* Removes the entries from index on from the log. */
int member_truncate(struct raft_member *m, uint64_t index);

/* member_snapshot.c: the part of struct raft_io for snapshots. */
void member_snapshot_io(struct raft_io *io, struct raft_fsm *fsm);
/* The data of a snapshot's record; free() it.  -ENOMEM. */
int member_snapshot_encode(const struct raft_configuration *conf,
			   uint64_t conf_index, void **data, uint32_t *len);
int member_snapshot_decode(struct raft_member *m, uint64_t index, uint64_t term,
			   const void *data, size_t len);
/* For libraft; NULL: no memory. */
struct raft_snapshot *member_snapshot_copy(const struct raft_member *m);
/* Decides whether libraft takes a snapshot when it applies the next entry. */
void member_aim_snapshot(struct raft_member *m);
void member_answer_snapshots(struct raft_member *m);
void member_repeat_checkpoint(struct raft_member *m);
/* The member stops while a snapshot is being stored. */
void member_cancel_snapshot(struct raft_member *m);

/* member_net.c: the part of struct raft_io for the network. */
void member_net_io(struct raft_io *io);
void member_complete_sends(struct raft_member *m);
/*
 * Sends TimeoutNow of a transfer again: the first one may be lost, and a member that has just
 * started drops it.
 */
void member_repeat_timeout(struct raft_member *m);
void member_deliver(struct raft_member *m, const struct peer_envelope *env,
		    struct raft_message *msg);
void member_deliver_held(struct raft_member *m);

/* message_guard.c: why libraft must not get this message; NULL: it may. */
const char *message_refusal(struct raft_member *m,
			    const struct peer_envelope *env,
			    const struct raft_message *msg);

/* member_proposals.c */
void member_begin_term(struct raft_member *m);
void member_submit_proposals(struct raft_member *m);
void member_complete_proposals(struct raft_member *m);
void member_drop_proposals(struct raft_member *m);
int member_apply(struct raft_fsm *fsm, const struct raft_buffer *buf,
		 void **result);

/*
 * Whether the log has space for what an election may write; otherwise this member does not stand.
 */
bool member_has_election_room(struct raft_member *m);

/* member_changes.c */
void member_finish_change(struct raft_member *m);
void member_start_transfer(struct raft_member *m);

#endif
