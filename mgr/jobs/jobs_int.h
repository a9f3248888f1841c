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
 * Removes objects at one iod, in the order of the intents, which are a queue
 * on disk: all a slow iod costs is its place in it.
 */
struct remover {
	struct iod *iod;
	uint64_t done; /* intents up to here are done here */
	uint64_t sent; /* ... up to here are in the call */
	bool busy;
	struct rpc_timer timer; /* lets a batch grow */
	struct iod_call call;
	uint64_t msg[REMOVE_MSG_LEN / 8];
};

#define FENCE_MSG_LEN                                                          \
	(sizeof(struct wire_hdr) + sizeof(struct wire_fence) +                 \
	 WIRE_FENCE_MAX * sizeof(le64))

/* Tells one iod of the sessions that have ended, in order. */
struct fencer {
	struct iod *iod;
	uint64_t done; /* it has all up to here */
	uint64_t kept; /* ... and the data base says so */
	uint64_t sent; /* up to here are in the call */
	struct iod_call call;
	uint64_t msg[FENCE_MSG_LEN / 8];
};

/* Tells one iod of those that had capabilities, and of whom nothing is on a disk. */
struct parter {
	struct iod *iod;
	uint64_t done, sent; /* as in fencer; numbers in jobs->parted */
	struct iod_call call;
	uint64_t msg[FENCE_MSG_LEN / 8];
};

/* What one iod may do without us; clock_boot(). */
struct lease {
	uint64_t until; /* from then on it carries out no change */
	uint64_t sent; /* the last one */
	bool good; /* it has what it owed when this began */
	bool busy; /* the call is */
	struct rpc_call call;
	uint64_t msg[(sizeof(struct wire_hdr) + sizeof(struct wire_lease)) / 8];
};

/* A session that has ended, as soon as the iods let it. */
struct end {
	TAILQ_ENTRY(end) link;
	uint64_t id; /* of the fence */
	uint64_t session;
};

/* Whether an iod's store is the one that belongs here. */
struct claimer {
	bool asks, asked; /* for a new data base: binds nothing yet */
	bool unrecorded; /* and this was said */
	bool bound;
	struct iod_call call;
	uint64_t msg[10];
};

struct iod {
	struct mgr *mgr;
	uint32_t index;
	struct rpc_peer *peer;
	bool down; /* the last try failed, and this was said */
	bool claimed; /* this life of it */
	bool open; /* it was claimed once: calls go out */
	TAILQ_HEAD(, iod_call) held; /* until then */
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
	uint32_t calls; /* it makes, or will make, at the iods */
	struct park park; /* who waits for it */
	void (*abandon)(struct job *job); /* nobody waits any more */

	/* truncation */
	struct intent in;
	struct request *owner; /* waits for it, too; NULL: gone */
	struct flusher_item item;
	struct rpc_timer again; /* its end could not be recorded */
	unsigned int wait_ms;
	bool resumed; /* an earlier life of the mgr has begun it */
	/* question for a size */
	uint32_t gen;
	struct dist dist;
	struct ns_size now;
	bool look; /* nobody waits for the answer */
};

/* Also what getsize_look() began. */
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
	struct park room; /* who waits until there are fewer */
	uint64_t remove_limit; /* intents up to here are durable */
	uint64_t removed; /* intents up to here are deleted */
	uint64_t fence_limit; /* fences up to here are durable */
	struct {
		struct parting *ring; /* PARTINGS_MAX; NULL: there was none */
		uint64_t first, end; /* number n is in place n % PARTINGS_MAX */
		uint64_t said; /* when that one was not recorded: log_pace.h */
	} parted;
	TAILQ_HEAD(, end) ends; /* in order */
	struct rpc_timer ends_look; /* when a lease has passed */
	struct rpc_timer renew; /* leases */
	uint64_t lease_before_s; /* of those that iods may have from before */
	uint64_t term; /* of this life of the mgr */
	uint64_t since; /* the first term in this life of the host */
	uint64_t begun; /* ... and when that was, clock_boot() */
	uint64_t session; /* ... with the iods */
	uint64_t first_id; /* its first; what it found has lower ones */
	uint64_t identity; /* of the data base */
	uint32_t unasked, unbound; /* iods: claim.c */
	struct {
		struct rpc_timer timer;
		unsigned int ms; /* to the next reminder; 0: none is due */
	} missing;
};

int iods_open(struct mgr *mgr);
void iods_close(struct mgr *mgr);
/* The iod may get all calls from now on. */
void iod_release_held(struct iod *iod);

int claim_open(struct mgr *mgr);
void claim_start(struct iod *iod);
/* The iod has answered ESTALE: another manager may have it. */
void claim_refused(struct iod_call *call);
/* Of a peer: the iod was started anew, or forgot us. */
void claim_again(void *arg, struct rpc_peer *peer);

/* -ESTALE, logged: another manager has displaced this data base. */
int term_open(struct mgr *mgr);
void term_note_displaced(struct mgr *mgr);

int fence_open(struct iod *iod);
/* The iod was claimed: it is told what it lacks, from the beginning. */
void fence_claimed(struct iod *iod);
/* It has a new store, which knows of none. */
void fence_forgotten(struct iod *iod);
bool fence_has_all(const struct iod *iod);
/* FENCE by a call whose done is set; msg is the call's until then.  flags: WIRE_FN_*. */
void fence_ask(struct iod *iod, struct iod_call *call,
	       uint64_t msg[FENCE_MSG_LEN / 8], uint32_t flags,
	       const le64 *session, uint32_t n);

void part_open(struct iod *iod);
/* This life of the iod was claimed: it is told of all of them. */
void part_claimed(struct iod *iod);
bool part_has_all(const struct iod *iod);
/* Who parted in an earlier life of the manager.  -ENOMEM, -EIO. */
int part_resume(struct mgr *mgr);
void part_close(struct mgr *mgr);

/* Sends one, if it is time and the iod owes nothing. */
void lease_look(struct iod *iod);
/* The iod was started anew, or has forgotten us. */
void lease_fresh(struct iod *iod);
/* It does not run. */
void lease_refused(struct iod *iod);
void leases_open(struct mgr *mgr);
void leases_close(struct mgr *mgr);

void ends_open(struct mgr *mgr);
void ends_close(struct mgr *mgr);
/* An iod does not run: ends_look() from the next round. */
void ends_look_soon(struct mgr *mgr);

/* Its file, as clients and iods know it. */
static inline unsigned long long job_shown(const struct job *job)
{
	return handle_shown(job->mgr->st, job->handle);
}

/* calls: how many at the iods it takes.  NULL: no memory. */
struct job *job_new(struct mgr *mgr, uint64_t handle, uint32_t calls,
		    const char *what);
/* Of a fan: nobody waits for an iod of another file system. */
void job_refused(struct fan *fan);
/* Runs the waiting requests again (or only frees, at the end of the mgr). */
void job_over(struct job *job);

/* An iod may be missing: missing.c looks after a while. */
void missing_watch(struct mgr *mgr);
void missing_close(struct mgr *mgr);

int resize_resume(struct mgr *mgr);
void remove_open(struct iod *iod);
/* Of mgr->mark: the intents to remove up to it are durable. */
void remove_durable(struct flusher_item *item);
void room_open(struct mgr *mgr);

#endif
