/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * jobs.h - work at the iods: truncations, sizes, removals, fences.  It is sent to all iods
 * in parallel, and retried until an iod answers.  An iod that does not answer delays only
 * work that needs this iod.  All functions are called by the manager's thread.
 */
#ifndef JOBS_H
#define JOBS_H

#include "common/dist/copyset.h"
#include "mgr/state/mgr_state.h"

struct mgr_iod;
struct file_job;

/*
 * Opens the iods and continues the work that the previous run of the manager recorded and
 * did not finish.  fenced(): see fenced_end_add().  -errno: logged.
 */
int jobs_open(struct mgr *mgr,
	      void (*fenced)(struct mgr *mgr, uint64_t session));
/*
 * Stops all jobs.  Their records stay in the database.  Does not touch requests that wait for
 * them.
 */
void jobs_close(struct mgr *mgr);

/*
 * Name of a value in the database: the term of this database with which an iod refused it,
 * because the iod obeys another manager.  0: a restore of the database has begun.
 */
#define TERM_DISPLACED "displaced"
/*
 * pvfs-mgr --recover, and --restore to a group, put the term of the recovered database this far
 * above the highest term that an iod obeys.  The rest of the old group cannot reach half of
 * this distance by elections.  So a leader that finds an iod's term more than TERM_GAP / 2
 * above its own knows that its group was superseded.
 */
#define TERM_GAP (UINT64_C(1) << 16)
/* The term of this run of the manager: term.c. */
uint64_t jobs_term(const struct mgr *mgr);
/*
 * Call it after the event loop if mgr->superseded is set.  Records durably that another manager
 * has displaced this database, so that this database does not displace the other manager in
 * turn.
 */
void jobs_note_displaced(struct mgr *mgr);
/*
 * Tells how to read the times in a record that the run of the manager with this term wrote.  0:
 * they are times of our clock_boot().  Not 0: that run had another clock (it was on another host,
 * in another time namespace, or before a reboot of this host), so its times cannot be compared
 * with ours.  Then the result is a time of our clock_boot() that is later than all times that the
 * run wrote.
 */
uint64_t jobs_clock_of(const struct mgr *mgr, uint64_t term);

/* ---- iod.c: one iod, as seen by the manager ---- */

/*
 * A call to one iod.  It is retried until the iod answers, or until its deadline; then
 * done() is called, with call->status.  The caller owns the struct and the request msg,
 * and keeps both until done() or iod_call_cancel().
 */
struct iod_call {
	const void *msg;
	size_t msg_len;
	bool early; /* is sent even if the iod is not claimed yet */
	struct copyset_ref
		copyset; /* of the objects; zeros: the own one of the iod */
	/*
	 * clock_now(): at this time the call ends with -ETIMEDOUT; 0: it is retried without
	 * limit
	 */
	uint64_t deadline;
	void (*done)(struct iod_call *call);
	/*
	 * Called if the server at the iod's address serves another file system.  The call is
	 * still retried; refused() may cancel it.  NULL: not called.
	 */
	void (*refused)(struct iod_call *call);
	/* 0, the error of the iod (also -WIRE_ECOPYSET), or -ETIMEDOUT */
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
void iod_call_start(struct mgr_iod *iod, struct iod_call *call);
/* Call it in done() to repeat the call after a pause, which is longer each time. */
void iod_call_later(struct iod_call *call);
/* Cancels the call: done() will not be called. */
void iod_call_cancel(struct iod_call *call);
/* Returns a name for messages, such as "iod 2 (tcp://10.0.0.7:7000)".  The iod owns it. */
const char *iod_name(const struct mgr_iod *iod);

/* ---- job.c: a file has at most one job at a time ---- */

/*
 * Returns the job of the file, or NULL.  If the job is a question that
 * getsize_start_in_background() began, abandons it and returns NULL.
 */
struct file_job *job_find(struct mgr *mgr, uint64_t handle);
/*
 * Lets the request wait: it runs again when the job is finished.  If the request's deadline
 * passes before, it is answered, and the log names the iods that have not answered.
 */
void job_wait(struct file_job *job, struct request *req);
/* Frees the job, and cancels its calls. */
void job_free(struct file_job *job);

/* ---- resize.c, getsize.c ---- */

/*
 * Makes the job of the truncation *in, which the open transaction records.  The caller
 * commits the transaction with resize_item(job); when the commit is durable, the
 * truncation starts.  If the commit fails, the caller calls job_free().  NULL: no memory.
 */
struct file_job *resize_new(struct mgr *mgr, const struct intent *in);
struct flusher_item *resize_item(struct file_job *job);
/*
 * Makes the request `owner` wait for the end of the truncation.  This is the request that asked
 * for the truncation; after a restart of the manager, it is the repetition by the client.
 */
void resize_set_owner(struct file_job *job, struct request *owner);
/*
 * Returns the job of the truncation whose intent has this id.  NULL: the truncation is
 * finished.
 */
struct file_job *resize_find(struct mgr *mgr, uint64_t id);
/*
 * Asks the iods for the size of the file, for the request asker; ns_store_size() stores the
 * answer.  *job: for job_wait().  -EAGAIN: call_limit_permits() is false.  -ENOMEM, errors
 * of the store.
 */
int getsize_start(struct request *asker, uint64_t handle,
		  struct file_job **job);
/*
 * Asks the iods for the size of the file although no request waits for it, if the file has no
 * job and its iods are available.
 */
void getsize_start_in_background(struct mgr *mgr, uint64_t handle);

/* ---- job.c: the limit of concurrent calls ---- */

/* Whether req may start a question for a size, or a truncation, with calls to n iods. */
bool call_limit_permits(const struct request *req, uint32_t n);
/* The same without a request; also false if any request waits. */
bool call_limit_is_free(const struct mgr *mgr, uint32_t n);
/* Lets the request wait: it runs again when enough calls have ended. */
void call_limit_wait(struct request *req);
/* Runs waiting requests as far as the limit permits.  true: there are more for the next turn. */
bool call_limit_run(struct mgr *mgr);

/* ---- session_ends.c: the iods learn which sessions have ended ---- */

/* All fences with ids up to id are durable: sends them to the iods. */
void fences_tell(struct mgr *mgr, uint64_t id);
/*
 * Calls fenced() for the session once no iod can execute a request of it.  id: of its fence,
 * above the ids of earlier calls.  -ENOMEM: fenced() will not be called.
 */
int fenced_end_add(struct mgr *mgr, uint64_t id, uint64_t session);
/* Checks the sessions of fenced_end_add(), and calls fenced() for those that no iod can serve. */
void fenced_ends_check(struct mgr *mgr);
/* Returns the id of the last durable fence. */
uint64_t fence_latest(const struct mgr *mgr);
/* Whether the iod runs, as far as is known, and has not confirmed all fences up to id. */
bool fence_is_owed(const struct mgr *mgr, uint32_t index, uint64_t id);
/*
 * 0: the session has a fence that some iods lack.  -ENOENT: all iods have it, or there was
 * none.
 */
int fence_find(const struct mgr *mgr, uint64_t session);
/* Deletes the records of fences that all iods have. */
void fences_drop_done(struct mgr *mgr);
/*
 * The session has ended, had capabilities, and gets no fence.  Tells the iods to reject it, and
 * tells each restarted iod again.  until: clock_boot(), when the session's capabilities have
 * expired.  The newest UNFENCED_ENDS_MAX such sessions are kept.
 */
void unfenced_end_add(struct mgr *mgr, uint64_t session, uint64_t until);

/* ---- jobs.c: rows of copysets ---- */

/*
 * A committed transaction has changed the row of a copyset from *old to *now.  Sends the members of
 * both their rows again, and calls to its new primary.  old: NULL if the copyset is new.
 */
void copyset_changed(struct mgr *mgr, const struct copyset *old,
		     const struct copyset *now);

/* ---- remove.c ---- */

/* Deletes the records of a few removals that all iods have done.  true: there are more. */
bool remove_drop_done(struct mgr *mgr);

#endif
