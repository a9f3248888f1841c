/* SPDX-License-Identifier: BSD-2-Clause */
/* jobs_int.h - the state of jobs.h, and functions that the files of this folder share. */
#ifndef JOBS_INT_H
#define JOBS_INT_H

#include "common/dist/copyset.h"
#include "common/util/hash_table.h"
#include "mgr/jobs/jobs.h"
#include "mgr/request/request.h"

#define REMOVE_BATCH WIRE_HANDLE_MAX
#define REMOVE_MSG_LEN                                                         \
	(sizeof(struct wire_hdr) + sizeof(struct wire_remove) +                \
	 (sizeof(le64) + sizeof(le32)) * REMOVE_BATCH)

/*
 * Removes objects at one iod, in the order of the intents, which are a queue on disk.
 * So a slow iod costs only its position in the queue.
 */
struct remover {
	struct mgr_iod *iod;
	uint64_t done; /* intents up to here are done at this iod */
	uint64_t sent; /* intents up to here are in the call */
	uint32_t server; /* of the next intent: servers below are in the call, too */
	bool busy;
	struct rpc_timer timer; /* lets a batch grow */
	struct iod_call call;
	uint64_t msg[REMOVE_MSG_LEN / 8];
};

#define FENCE_MSG_LEN                                                          \
	(sizeof(struct wire_hdr) + sizeof(struct wire_fence) +                 \
	 WIRE_FENCE_MAX * sizeof(le64))

/*
 * Tells one iod which sessions have ended, in the order of their numbers: the ids of fences, or
 * positions in jobs->unfenced.
 */
struct end_notifier {
	struct mgr_iod *iod;
	uint64_t done; /* the iod knows all ends up to here */
	uint64_t sent; /* ends up to here are in the call */
	struct iod_call call;
	uint64_t msg[FENCE_MSG_LEN / 8];
};

/* The time for which one iod may execute changes without the manager; clock_boot(). */
struct lease {
	uint64_t until; /* from then on the iod executes no change */
	uint64_t sent; /* when the last lease was sent */
	bool good; /* the iod knew all ends when this series of leases began */
	bool busy; /* the call is in flight */
	struct rpc_call call;
	uint64_t msg[(sizeof(struct wire_hdr) + sizeof(struct wire_lease)) / 8];
};

/* Checks that the store of an iod belongs to this database. */
struct claimer {
	/* a new database, or a leader of a group: first only asks, binds nothing yet */
	bool asks, asked;
	bool unrecorded; /* its store could not be recorded, which is logged */
	uint64_t store; /* the store that the iod has named */
	uint64_t before; /* the iod's store that the database has; 0: none */
	struct flusher_item item; /* of the record of its store */
	bool recording; /* the item is in the flusher */
	bool bound; /* the store is recorded */
	struct iod_call call;
	uint64_t msg[10];
};

/* Sends one iod the rows of its copysets: assign.c. */
struct assigner {
	bool done; /* this process of the iod had all rows, and no change is to be sent */
	bool again; /* rows have changed: begin with the first part */
	bool waiting; /* the item is in the flusher */
	uint64_t revision; /* of the parts */
	uint32_t from; /* the next copyset to be read */
	uint64_t logged; /* for log_pace() */
	struct assign_msg *msg; /* the part; NULL: none was needed yet */
	struct flusher_item item;
	struct rpc_timer timer; /* the next turn */
	struct iod_call call;
};

struct mgr_iod {
	struct mgr *mgr;
	uint32_t index;
	struct rpc_peer *peer;
	bool down; /* the last try failed, which is logged */
	bool claimed; /* since the last start of the iod */
	bool open; /* it was claimed once: calls are sent */
	/* calls that wait until `open` is set */
	TAILQ_HEAD(, iod_call) held;
	/* called if the iod has answered -ESTALE: it may obey another manager */
	void (*stale)(struct iod_call *call);
	struct claimer claimer;
	/* rpc_peer_boot() of its last process that is known to have ended; 0: none */
	uint64_t ended;
	struct assigner assigner;
	struct end_notifier fences, unfenced;
	uint64_t fences_recorded; /* the value of fences.done in the database */
	struct lease lease;
	struct remover remover;
};

/* A call of a job to one iod. */
struct job_call {
	struct iod_call call;
	struct file_job *job;
	uint32_t k; /* index of the server among those of the file */
	struct mgr_iod *iod; /* to which it goes */
	bool answered;
	uint64_t msg[12];
};

/* A kind of job. */
struct job_ops {
	const char *name; /* "truncation", for the log */
	unsigned int op; /* enum wire_op */
	/* the body of the request to server k */
	void (*build)(struct file_job *job, uint32_t k, struct wire_out *out);
	/* the answer of server k; may be NULL */
	void (*answer)(struct file_job *job, uint32_t k,
		       const struct wire_msg *msg);
	/* called when all servers have answered; may free the job */
	void (*done)(struct file_job *job);
	/* called when no request waits any more; may free the job; NULL: the job continues */
	void (*abandon)(struct file_job *job);
};

struct file_job {
	UT_hash_handle hh; /* by handle */
	uint64_t handle;
	struct mgr *mgr;
	const struct job_ops *ops;
	struct park park; /* requests that wait for it */

	struct dist dist; /* of the file: one call for each of its servers */
	uint32_t left; /* calls without an answer */
	uint64_t deadline; /* of the calls, clock_now(); 0: none */
	int status; /* the first error that an iod returned */
	struct job_call *call; /* dist.pcount; NULL: not started */

	/* only for a truncation */
	struct intent in;
	/* the request that asked for it; NULL: it is gone */
	struct request *owner;
	struct flusher_item item;
	struct rpc_timer again; /* retries to record the end */
	unsigned int wait_ms;
	bool resumed; /* a previous run of the manager began it */
	/* only for a question for the size */
	uint32_t gen; /* the inode's gen when the question began */
	struct ns_size now; /* the answers so far */
	bool in_background; /* no request waits for it */
};

struct mgr_jobs {
	void (*fenced)(struct mgr *mgr, uint64_t session);
	struct mgr_iod *iod; /* niods */
	struct file_job *table;
	size_t calls; /* of all jobs */
	struct park limit; /* requests that wait until there are fewer calls */
	uint64_t remove_limit; /* intents up to here are durable */
	uint64_t removed; /* intents up to here are deleted */
	uint64_t fence_limit; /* fences up to here are durable */
	struct {
		/*
		 * UNFENCED_ENDS_MAX entries; entry n is at n % UNFENCED_ENDS_MAX; NULL: no
		 * entry yet
		 */
		struct unfenced_end *ring;
		uint64_t first, end; /* entries from first to end - 1 exist */
		/*
		 * entries before certain may be sent to iods; the item waits for those before
		 * awaited
		 */
		uint64_t certain, awaited;
		struct flusher_item item;
		bool waiting;
		/* for log_pace(): the last log line of an unrecorded entry */
		uint64_t log_time;
	} unfenced;
	TAILQ_HEAD(, fenced_end) ends; /* sessions of fenced_end_add(), by id */
	struct rpc_timer ends_check; /* fires when a lease has expired */
	struct rpc_timer renew; /* leases */
	/* the length of leases that iods may have from earlier runs */
	uint64_t lease_before_s;
	uint64_t term; /* of this run of the manager */
	uint64_t since; /* the first term in this boot of the host */
	uint64_t begun; /* when the term `since` began, clock_boot() */
	uint64_t session; /* the manager's session at the iods */
	/* the first id of this run; records of earlier runs have lower ids */
	uint64_t first_id;
	uint64_t identity; /* of the database */
	/* iods that have not answered the first question, or are not bound: claim.c */
	uint32_t unasked, unbound;
	struct {
		struct rpc_timer timer;
		unsigned int ms; /* to the next reminder; 0: none is due */
	} missing;
};

/* ---- iod.c ---- */

/*
 * Sets *iod to the iod to which calls for the objects of server k go, and *ref to the copyset that
 * they name.  If no member is SERVING, it is one that refuses them, so they are repeated.  -EIO:
 * the layout names no copyset; other errors of the store.
 */
int mgr_copyset_iod(struct mgr *mgr, const struct dist *dist, uint32_t k,
		    struct copyset_ref *ref, struct mgr_iod **iod);
/* The iod with this index, for example of a member of a copyset; NULL: pvfs.conf has no such iod. */
struct mgr_iod *mgr_iod_find(const struct mgr *mgr, uint32_t index);
void iod_init(struct mgr *mgr, uint32_t index,
	      void (*stale)(struct iod_call *call));
/* The iod was claimed: sends the calls that were held, and from now on holds none. */
void iod_release_held(struct mgr_iod *iod);
/* Call it if an iod may not answer: after a while, the log names all iods that do not. */
void missing_watch(struct mgr *mgr);
void missing_close(struct mgr *mgr);

/* ---- claim.c ---- */

int claim_open(struct mgr *mgr);
void claim_start(struct mgr_iod *iod);
/* The iod has answered ESTALE: it may obey another manager. */
void claim_refused(struct iod_call *call);

/* ---- term.c ---- */

/* -ESTALE, logged: another manager has displaced this database. */
int term_open(struct mgr *mgr);

/* ---- session_ends.c ---- */

/* Loads the sessions that ended in earlier runs of the manager.  -ENOMEM, -EIO. */
int session_ends_open(struct mgr *mgr);
void session_ends_close(struct mgr *mgr);
int session_ends_open_iod(struct mgr_iod *iod);
void session_ends_close_iod(struct mgr_iod *iod);
/* The iod was claimed after a start: tells it the ends that it lacks. */
void session_ends_tell_restarted(struct mgr_iod *iod);
/* The iod has a new store, which has no fences: sends it all ends again. */
void session_ends_forgotten(struct mgr_iod *iod);
/* Calls fenced_ends_check() in the next round of the loop. */
void fenced_ends_check_soon(struct mgr *mgr);

static inline bool iod_has_all_fences(const struct mgr_iod *iod)
{
	return iod->fences.done >= iod->mgr->jobs->fence_limit;
}

static inline bool iod_has_all_unfenced_ends(const struct mgr_iod *iod)
{
	return iod->unfenced.done >= iod->mgr->jobs->unfenced.end;
}

/* ---- assign.c ---- */

void assign_open(struct mgr_iod *iod);
/* The caller clears the timer. */
void assign_close(struct mgr_iod *iod);
/*
 * The iod was claimed after a start, or a row with it has changed: sends all rows soon.  It gets no
 * first lease before.
 */
void assign_start(struct mgr_iod *iod);

/* ---- lease.c ---- */

/* The iod may have a lease of an earlier run of the manager. */
void lease_open(struct mgr_iod *iod);
/* Sends a lease if it is due and the iod knows all ends of sessions. */
void lease_renew(struct mgr_iod *iod);
/* Call it if the iod was restarted or does not run: its next lease begins a new series. */
void lease_reset(struct mgr_iod *iod);
/* The time between two leases. */
unsigned int lease_pause_ms(const struct mgr *mgr);

/* ---- job.c ---- */

/* As job_find(), but does not abandon a question in the background, and returns it. */
struct file_job *job_lookup(struct mgr *mgr, uint64_t handle);
/* Makes the job of the file with this layout.  NULL: no memory. */
struct file_job *job_new(struct mgr *mgr, uint64_t handle,
			 const struct dist *dist, const struct job_ops *ops);
/* Starts the calls to all iods of the file.  -ENOMEM; -errno of mgr_copyset_iod(). */
int job_start(struct file_job *job);
/* Runs the waiting requests again, and frees the job. */
void job_finish(struct file_job *job);
/* The handle of the job's file, as clients and iods know it. */
static inline unsigned long long job_handle_external(const struct file_job *job)
{
	return handle_external(job->mgr->st, job->handle);
}
void call_limit_open(struct mgr *mgr);
/* The copyset has this new row: repeats the calls that named an earlier version. */
void jobs_send_to_primary(struct mgr *mgr, const struct copyset *now);

/* ---- resize.c, remove.c ---- */

int resize_resume(struct mgr *mgr);
void remove_open(struct mgr_iod *iod);
/* For mgr->mark.durable: the removals that were recorded before are durable, and may be sent. */
void remove_durable(struct flusher_item *item);

#endif
