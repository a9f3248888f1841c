/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * jobs.h - work at the iods: truncations, sizes, removals, fences.  All of it
 * goes out in parallel, is tried again until an iod answers, and never holds
 * up what does not need that iod.
 */
#ifndef JOBS_H
#define JOBS_H

#include "mgr/state/mgr_state.h"

struct iod;
struct fan;
struct job;

/*
 * Opens the iods and carries on what the last life of this mgr left.  fenced(): see
 * ends_add().
 */
int jobs_open(struct mgr *mgr,
	      void (*fenced)(struct mgr *mgr, uint64_t session));
/* Stops everything; it stays recorded.  Requests that wait are left alone. */
void jobs_close(struct mgr *mgr);

/* In the data base: the term that an iod refused, for it obeys another manager; 0: a restore
 * of it has begun. */
#define TERM_DISPLACED "displaced"
/* Of this life of the mgr: term.c. */
uint64_t jobs_term(const struct mgr *mgr);
/*
 * 0: what that term told is on our clock_boot().  Else it is on that of another host, or of an
 * earlier life of this one, and older than this, on ours.
 */
uint64_t jobs_clock_of(const struct mgr *mgr, uint64_t term);

/* ---- iod.c: one iod as the mgr sees it ---- */

/*
 * A call that is tried until the iod has answered it, or its deadline: done() sees 0
 * or the error that the iod answered.  Caller-owned until then, with msg.
 */
struct iod_call {
	const void *msg;
	size_t msg_len;
	bool early; /* need not wait until the iod is claimed */
	/* clock_now(): no try lasts longer, and then it is done, with -ETIMEDOUT;
	 * 0: it is tried for ever */
	uint64_t deadline;
	void (*done)(struct iod_call *call);
	/* The iod serves another file system; it is tried further.  May cancel
	 * the call; may be NULL. */
	void (*refused)(struct iod_call *call);
	int status;
	const struct wire_msg *reply; /* if status is 0; in done() only */
	/* private */
	enum {
		IOD_CALL_IDLE,
		IOD_CALL_HELD,
		IOD_CALL_SENT,
		IOD_CALL_LATER
	} state;
	struct iod *iod;
	struct rpc_call rpc;
	struct rpc_timer again;
	unsigned int wait_ms;
	TAILQ_ENTRY(iod_call) link;
};
struct iod *iod_of(struct mgr *mgr, uint32_t index);
void iod_call_start(struct iod *iod, struct iod_call *call);
/* From done(): once more, each time after a longer while. */
void iod_call_later(struct iod_call *call);
/* done() will not be called. */
void iod_call_cancel(struct iod_call *call);
/* "iod 2 (tcp://10.0.0.7:7000)" */
const char *iod_name(const struct iod *iod);

/* ---- fan.c: one question to several iods ---- */

struct fan_call {
	struct iod_call call;
	struct fan *fan;
	uint32_t k; /* which server of the file */
	bool answered;
	uint64_t msg[12];
};
struct fan {
	struct mgr *mgr;
	uint32_t n, left;
	uint64_t deadline; /* of its calls; 0: none */
	int status; /* the first error that an iod answered */
	struct fan_call *calls;
	const struct fan_ops *ops;
};
struct fan_ops {
	unsigned int op; /* enum wire_op */
	/* the body of the request to server k */
	void (*build)(struct fan *fan, uint32_t k, struct wire_out *out);
	/* server k's answer; may be NULL */
	void (*answer)(struct fan *fan, uint32_t k, const struct wire_msg *msg);
	/* all have answered; may free the fan */
	void (*done)(struct fan *fan);
	/* an iod serves another file system; may free the fan, may be NULL */
	void (*refused)(struct fan *fan);
};
/* Asks iods base, base + 1, ... (n of them).  -ENOMEM. */
int fan_start(struct mgr *mgr, struct fan *fan, const struct fan_ops *ops,
	      uint32_t base, uint32_t n);
/* Frees what fan_start() made, and stops what goes on. */
void fan_end(struct fan *fan);
/* Names those who have not answered. */
void fan_missing(const struct fan *fan, char *buf, size_t len);

/* ---- job.c: the one job that a file may have at a time ---- */

/* NULL: the file has none.  What getsize_look() began is given up. */
struct job *job_find(struct mgr *mgr, uint64_t handle);
/* The request runs again when the job is over; if that is late, the log names
 * the iods. */
void job_wait(struct job *job, struct request *req);
/* Forgets it. */
void job_free(struct job *job);

/* ---- resize.c, getsize.c ---- */

/*
 * A truncation, recorded in the transaction at hand: commit that with
 * resize_item(), then it is carried out.  job_free() if the commit fails.
 */
struct job *resize_new(struct mgr *mgr, const struct intent *in);
struct flusher_item *resize_item(struct job *job);
/* The request that it is for waits for it (and after a restart, again). */
void resize_adopt(struct job *job, struct request *owner);
/* By the intent's id; NULL: it is over. */
struct job *resize_find(struct mgr *mgr, uint64_t id);
/* Asks for the size of a file; ns_asked() keeps the answer.  *job for
 * job_wait(); -EAGAIN: no room; or -errno. */
int getsize_start(struct request *asker, uint64_t handle, struct job **job);
/* Asks while nobody waits, if there is nothing else to do for the file and its iods are up. */
void getsize_look(struct mgr *mgr, uint64_t handle);

/* ---- room.c: how many jobs there may be at a time ---- */

/* There is room for a question or truncation of req over n iods. */
bool jobs_room(const struct request *req, uint32_t n);
/* ... of nobody, and nobody waits for any. */
bool jobs_idle(const struct mgr *mgr, uint32_t n);
/* The request runs again when there is some. */
void jobs_wait(struct request *req);
/* Lets in who waits, as far as there is room; true: there are more for the next turn. */
bool jobs_admit(struct mgr *mgr);

/* ---- fence.c, ends.c ---- */

/* All intents to fence a session up to id are durable: iods are told. */
void fence_up_to(struct mgr *mgr, uint64_t id);
/* Then fenced(), when no iod can carry out anything of it.  In order of
 * the ids.  -ENOMEM. */
int ends_add(struct mgr *mgr, uint64_t id, uint64_t session);
/* Lets them go on, if that is so. */
void ends_look(struct mgr *mgr);
/* The last one of these. */
uint64_t fence_latest(const struct mgr *mgr);
/* That iod runs, as far as is known, and has not said that it has all up to id. */
bool fence_owed(const struct mgr *mgr, uint32_t index, uint64_t id);
/* -ENOENT: all iods have that of the session, or there was none. */
int fence_of(const struct mgr *mgr, uint64_t session);
/* Deletes what all iods have. */
void fence_tidy(struct mgr *mgr);

/* ---- part.c ---- */

/*
 * The session had capabilities, is over, and no fence says so: iods are told to refuse it
 * from now on, and each that is started anew until then, clock_boot(), when none of these
 * counts any more.  Of the newest PARTINGS_MAX.
 */
void part_session(struct mgr *mgr, uint64_t session, uint64_t until);

/* ---- remove.c ---- */

/* Deletes a few intents that are done; true: there are more. */
bool remove_tidy(struct mgr *mgr);

#endif
