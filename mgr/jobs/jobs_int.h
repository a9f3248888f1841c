/* SPDX-License-Identifier: BSD-2-Clause */
/* jobs_int.h - what the files of the jobs share. */
#ifndef JOBS_INT_H
#define JOBS_INT_H

#include "common/util/hash_table.h"
#include "mgr/jobs/jobs.h"
#include "mgr/request/request.h"

#define REMOVE_BATCH WIRE_HANDLE_MAX
#define REMOVE_MSG_LEN                                                         \
	(sizeof(struct wire_hdr) + sizeof(struct wire_objects) +               \
	 8 * REMOVE_BATCH)

/*
 * Removes objects at one iod, in the order of the intents, which are a queue on disk.
 * So a slow iod costs only its position in the queue.
 */
struct remover {
	struct iod *iod;
	uint64_t done; /* intents up to here are done at this iod */
	uint64_t sent; /* intents up to here are in the call */
	bool busy;
	struct rpc_timer timer; /* lets a batch grow */
	struct iod_call call;
	uint64_t msg[REMOVE_MSG_LEN / 8];
};

#define FENCE_MSG_LEN                                                          \
	(sizeof(struct wire_hdr) + sizeof(struct wire_fence) +                 \
	 WIRE_FENCE_MAX * sizeof(le64))

/* Tells one iod the sessions that have ended, in order. */
struct fencer {
	struct iod *iod;
	uint64_t done; /* the iod has all fences up to here */
	uint64_t kept; /* the value of done in the database */
	uint64_t sent; /* fences up to here are in the call */
	struct iod_call call;
	uint64_t msg[FENCE_MSG_LEN / 8];
};

/* Tells one iod the ended sessions that had capabilities and have no fence. */
struct parter {
	struct iod *iod;
	uint64_t done, sent; /* as in fencer; numbers in jobs->parted */
	struct iod_call call;
	uint64_t msg[FENCE_MSG_LEN / 8];
};

/* The time for which one iod may execute changes without us; clock_boot(). */
struct lease {
	uint64_t until; /* from then on the iod executes no change */
	uint64_t sent; /* when the last lease was sent */
	bool good; /* the iod had all fences when this series of leases began */
	bool busy; /* the call is in flight */
	struct rpc_call call;
	uint64_t msg[(sizeof(struct wire_hdr) + sizeof(struct wire_lease)) / 8];
};

/* A session that has ended; the end waits for the iods. */
struct end {
	TAILQ_ENTRY(end) link;
	uint64_t id; /* of the fence */
	uint64_t session;
};

/* Checks that the store of an iod belongs to this database. */
struct claimer {
	bool asks, asked; /* for a new database: only asks, binds nothing yet */
	bool unrecorded; /* its store could not be recorded, which is logged */
	bool bound;
	struct iod_call call;
	uint64_t msg[10];
};

struct iod {
	struct mgr *mgr;
	uint32_t index;
	struct rpc_peer *peer;
	bool down; /* the last try failed, which is logged */
	bool claimed; /* since the last start of the iod */
	bool open; /* it was claimed once: calls are sent */
	TAILQ_HEAD(, iod_call) held; /* calls that wait until then */
	struct claimer claimer;
	struct fencer fencer;
	struct parter parter;
	struct lease lease;
	struct remover remover;
};

struct job {
	UT_hash_handle hh; /* by handle */
	uint64_t handle;
	struct mgr *mgr;
	struct fan fan;
	const char *what; /* "truncation", for the log */
	uint32_t calls; /* number of calls at the iods */
	struct park park; /* requests that wait for it */
	void (*abandon)(struct job *job); /* nobody waits any more */

	/* truncation */
	struct intent in;
	struct request *owner; /* also waits for it; NULL: it is gone */
	struct flusher_item item;
	struct rpc_timer again; /* retries to record the end */
	unsigned int wait_ms;
	bool resumed; /* a previous run of the manager began it */
	/* question for a size */
	uint32_t gen;
	struct dist dist;
	struct ns_size now;
	bool look; /* a question that nobody waits for */
};

/* As job_find(), but also returns what getsize_look() began. */
struct job *job_there(struct mgr *mgr, uint64_t handle);

static inline struct job *job_of_fan(struct fan *fan)
{
	return container_of(fan, struct job, fan);
}

struct jobs {
	void (*fenced)(struct mgr *mgr, uint64_t session);
	struct iod *iod; /* niods */
	struct job *table;
	size_t calls; /* of all jobs */
	struct park room; /* requests that wait until there are fewer calls */
	uint64_t remove_limit; /* intents up to here are durable */
	uint64_t removed; /* intents up to here are deleted */
	uint64_t fence_limit; /* fences up to here are durable */
	struct {
		/* ring has UNFENCED_ENDS_MAX entries; NULL: there was none */
		struct unfenced_end *ring;
		uint64_t first, end; /* number n is at n % UNFENCED_ENDS_MAX */
		/* log_pace.h: the last log line of an unrecorded entry */
		uint64_t said;
	} parted;
	TAILQ_HEAD(, end) ends; /* in order */
	struct rpc_timer ends_look; /* fires when a lease has expired */
	struct rpc_timer renew; /* leases */
	/* the length of leases that iods may have from earlier runs */
	uint64_t lease_before_s;
	uint64_t term; /* of this run of the manager */
	uint64_t since; /* the first term in this boot of the host */
	uint64_t begun; /* when that term began, clock_boot() */
	uint64_t session; /* the manager's session at the iods */
	/* its first id; all recovered records have lower ones */
	uint64_t first_id;
	uint64_t identity; /* of the database */
	uint32_t unasked, unbound; /* number of iods: claim.c */
	struct {
		struct rpc_timer timer;
		unsigned int ms; /* to the next reminder; 0: none is due */
	} missing;
};

int iods_open(struct mgr *mgr);
void iods_close(struct mgr *mgr);
/* From now on the iod may get all calls. */
void iod_release_held(struct iod *iod);

int claim_open(struct mgr *mgr);
void claim_start(struct iod *iod);
/* The iod has answered ESTALE: it may obey another manager. */
void claim_refused(struct iod_call *call);
/* For a peer: the iod was restarted, or has forgotten us. */
void claim_again(void *arg, struct rpc_peer *peer);

/* -ESTALE, logged: another manager has displaced this database. */
int term_open(struct mgr *mgr);
void term_note_displaced(struct mgr *mgr);

int fence_open(struct iod *iod);
/* The iod was claimed: tells it the fences that it lacks. */
void fence_claimed(struct iod *iod);
/* The iod has a new store without fences. */
void fence_forgotten(struct iod *iod);
bool fence_has_all(const struct iod *iod);
/*
 * Sends FENCE by a call whose done is set.  msg belongs to the call until done.  flags:
 * WIRE_FN_*.
 */
void fence_ask(struct iod *iod, struct iod_call *call,
	       uint64_t msg[FENCE_MSG_LEN / 8], uint32_t flags,
	       const le64 *session, uint32_t n);

void part_open(struct iod *iod);
/* The iod was claimed after a start: tells it all these sessions. */
void part_claimed(struct iod *iod);
bool part_has_all(const struct iod *iod);
/* Loads the sessions that ended in earlier runs of the manager.  -ENOMEM, -EIO. */
int part_resume(struct mgr *mgr);
void part_close(struct mgr *mgr);

/* Sends a lease if it is due and the iod has all fences. */
void lease_look(struct iod *iod);
/* The iod was restarted, or has forgotten us. */
void lease_fresh(struct iod *iod);
/* The iod does not run. */
void lease_refused(struct iod *iod);
void leases_open(struct mgr *mgr);
void leases_close(struct mgr *mgr);

void ends_open(struct mgr *mgr);
void ends_close(struct mgr *mgr);
/* An iod does not run: calls ends_look() in the next round of the loop. */
void ends_look_soon(struct mgr *mgr);

/* The handle of its file, as clients and iods know it. */
static inline unsigned long long job_shown(const struct job *job)
{
	return handle_external(job->mgr->st, job->handle);
}

/* calls: the number of calls at the iods.  NULL: no memory. */
struct job *job_new(struct mgr *mgr, uint64_t handle, uint32_t calls,
		    const char *what);
/* For a fan: nobody should wait for an iod of another file system. */
void job_refused(struct fan *fan);
/* Runs the waiting requests again, and frees the job. */
void job_over(struct job *job);

/* An iod may be missing: missing.c checks after a while. */
void missing_watch(struct mgr *mgr);
void missing_close(struct mgr *mgr);

int resize_resume(struct mgr *mgr);
void remove_open(struct iod *iod);
/* For mgr->mark: the intents to remove up to it are durable. */
void remove_durable(struct flusher_item *item);
void room_open(struct mgr *mgr);

#endif
