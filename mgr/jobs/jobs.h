/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * jobs.h - work at the iods: truncations, sizes, removals, fences.  All of it is sent
 * in parallel and retried until an iod answers.  It never delays what does not need
 * that iod.
 */
#ifndef JOBS_H
#define JOBS_H

#include "mgr/state/mgr_state.h"

struct mgr_iod;
struct file_job;

/*
 * Opens the iods and continues what the previous run of the manager left.  fenced():
 * see fenced_end_add().
 */
int jobs_open(struct mgr *mgr,
	      void (*fenced)(struct mgr *mgr, uint64_t session));
/* Stops all jobs; they stay recorded.  Waiting requests are left alone. */
void jobs_close(struct mgr *mgr);

/*
 * Named value in the database: the term that an iod refused because it obeys another
 * manager.  0: a restore of the database has begun.
 */
#define TERM_DISPLACED "displaced"
/*
 * A database that was recovered from one of several managers goes on so far above the highest term
 * that the iods obey.  Elections of the old group can close half of it in no realistic time.
 */
#define TERM_GAP (UINT64_C(1) << 16)
/* The term of this run of the manager: term.c. */
uint64_t jobs_term(const struct mgr *mgr);
/*
 * mgr->superseded is set: records it, durably, so that this database does not displace the other
 * manager in turn.  After the event loop.
 */
void jobs_note_displaced(struct mgr *mgr);
/*
 * For a record that another run of the manager wrote, in this term: how to read the times in
 * it.  0: they are times of our clock_boot().  Otherwise that run had another clock (it was on
 * another host, or before a reboot of this one), so they cannot be compared.  Then the returned
 * time of our clock_boot() is later than all of them.
 */
uint64_t jobs_clock_of(const struct mgr *mgr, uint64_t term);

/* ---- iod.c: one iod, as seen by the manager ---- */

/*
 * A call that is retried until the iod answers, or until its deadline.  done() gets
 * status 0 or the error of the iod.  The memory of the call and of msg is the caller's;
 * both must exist until done().
 */
struct iod_call {
	const void *msg;
	size_t msg_len;
	bool early; /* need not wait until the iod is claimed */
	/*
	 * clock_now(): no try lasts longer, and at that time the call ends with
	 * -ETIMEDOUT; 0: it is retried without limit
	 */
	uint64_t deadline;
	void (*done)(struct iod_call *call);
	/*
	 * The iod serves another file system; the call is still retried.  refused() may
	 * cancel the call.  It may be NULL.
	 */
	void (*refused)(struct iod_call *call);
	int status;
	const struct wire_msg *reply; /* if status is 0; only in done() */
	/* private */
	enum {
		IOD_CALL_IDLE,
		IOD_CALL_HELD,
		IOD_CALL_SENT,
		IOD_CALL_LATER
	} state;
	struct mgr_iod *iod;
	struct rpc_call rpc;
	struct rpc_timer again;
	unsigned int wait_ms;
	TAILQ_ENTRY(iod_call) link;
};
struct mgr_iod *iod_of(struct mgr *mgr, uint32_t index);
void iod_call_start(struct mgr_iod *iod, struct iod_call *call);
/* Call it in done(): repeats the call, each time after a longer pause. */
void iod_call_later(struct iod_call *call);
/* done() will not be called. */
void iod_call_cancel(struct iod_call *call);
/* "iod 2 (tcp://10.0.0.7:7000)" */
const char *iod_name(const struct mgr_iod *iod);

/* ---- job.c: a file has at most one job at a time ---- */

/* NULL: the file has no job.  Abandons a question that getsize_start_in_background() began. */
struct file_job *job_find(struct mgr *mgr, uint64_t handle);
/* The request runs again when the job is finished.  If that is late, the log names the iods. */
void job_wait(struct file_job *job, struct request *req);
/* Removes the job. */
void job_free(struct file_job *job);

/* ---- resize.c, getsize.c ---- */

/*
 * Makes the job of a truncation that the open transaction records.  Commit the
 * transaction with resize_item(); then the truncation starts.  Call job_free() if the
 * commit fails.
 */
struct file_job *resize_new(struct mgr *mgr, const struct intent *in);
struct flusher_item *resize_item(struct file_job *job);
/* The request of the truncation waits for it; after a restart, the repeated request does. */
void resize_set_owner(struct file_job *job, struct request *owner);
/* id: of the intent.  NULL: the truncation is finished. */
struct file_job *resize_find(struct mgr *mgr, uint64_t id);
/*
 * Asks for the size of a file; ns_store_size() stores the answer.  *job: for job_wait().
 * -EAGAIN: call_limit_permits() is false; or -errno.
 */
int getsize_start(struct request *asker, uint64_t handle,
		  struct file_job **job);
/* Asks although nobody waits, if the file has no other job and its iods are available. */
void getsize_start_in_background(struct mgr *mgr, uint64_t handle);

/* ---- job.c: the limit of concurrent calls ---- */

/* Whether req may start a question or truncation that needs n iods. */
bool call_limit_permits(const struct request *req, uint32_t n);
/* The same without a request; also false if any request waits. */
bool call_limit_is_free(const struct mgr *mgr, uint32_t n);
/* The request runs again when calls end. */
void call_limit_wait(struct request *req);
/* Runs waiting requests as far as the limit permits.  true: there are more for the next turn. */
bool call_limit_run(struct mgr *mgr);

/* ---- session_ends.c: the iods learn which sessions have ended ---- */

/* All intents to fence a session up to id are durable: tells the iods. */
void fences_tell(struct mgr *mgr, uint64_t id);
/*
 * The session waits until no iod can execute a request of it; then fenced() is called.  In order
 * of the ids of their fences.  -ENOMEM.
 */
int fenced_end_add(struct mgr *mgr, uint64_t id, uint64_t session);
/* Calls fenced() for the sessions for which that is so. */
void fenced_ends_check(struct mgr *mgr);
/* The last durable fence. */
uint64_t fence_latest(const struct mgr *mgr);
/* Whether the iod runs, as far as is known, and has not confirmed all fences up to id. */
bool fence_is_owed(const struct mgr *mgr, uint32_t index, uint64_t id);
/* -ENOENT: all iods have the fence of the session, or there was none. */
int fence_find(const struct mgr *mgr, uint64_t session);
/* Deletes fences that all iods have. */
void fences_drop_done(struct mgr *mgr);
/*
 * The session has ended, had capabilities, and gets no fence.  Tells the iods to reject it, and
 * each restarted iod again until `until` (clock_boot()), when its capabilities have expired.  The
 * newest UNFENCED_ENDS_MAX such sessions are kept.
 */
void unfenced_end_add(struct mgr *mgr, uint64_t session, uint64_t until);

/* ---- remove.c ---- */

/* Deletes a few finished intents; true: there are more. */
bool remove_drop_done(struct mgr *mgr);

#endif
