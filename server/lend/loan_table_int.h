/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * loan_table_int.h - the state of loan_table.h that the files of this folder share.  The files
 * call each other only downwards:
 *
 *	loan_table.c          opening, closing, lending, the watcher thread
 *	loan_recovery.c       the loans of the process before
 *	object_replacement.c  replacing objects of stuck writers and of evicted sessions
 *	loan_recall.c         revoking loans; writers that are inside then
 *	loan_sessions.c       sessions and their loans
 *
 * All functions need the table's lock, except where the contract says otherwise.
 */
#ifndef LOAN_TABLE_INT_H
#define LOAN_TABLE_INT_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/queue.h>

#include "common/util/hash_table.h"
#include "common/util/log.h"
#include "server/lend/borrower_process.h"
#include "server/lend/loan_files.h"
#include "server/lend/loan_history.h"
#include "server/lend/loan_table.h"

#define LOAN_BUCKETS 1024u

struct loan_session;
struct loan_evictions;
struct loan_watcher;

struct object_loan {
	struct loan_session *ses;
	uint64_t number; /* 0: not lent */
	struct object_key key;
	bool write;
	uint64_t until; /* clock_boot() */
	LIST_ENTRY(object_loan) link; /* of its handle's bucket */
	/*
	 * The rest is for a revoked loan whose writer is inside.  Only the watcher changes it,
	 * except stuck.
	 */
	/* it is on loan_table.stuck; its client was killed */
	bool stuck, killed;
	uint64_t since; /* time of the revocation, clock_now() */
	uint64_t retry_at; /* no replacement before, clock_now() */
	bool warned; /* it was logged that there is no room */
	struct gate_entry entry;
	TAILQ_ENTRY(object_loan) stuck_link;
};
LIST_HEAD(object_loans, object_loan);

struct loan_session {
	uint64_t id;
	UT_hash_handle hh;
	struct borrower_process process;
	struct loan_files files;
	unsigned int stuck; /* loans */
	unsigned int evictions; /* objects to be replaced for it */
	bool ended; /* freed once stuck and evictions are 0 */
	bool keep_files; /* the next process needs them */
	struct loan_user who;
	struct loan_counters counters;
	char peer[96];
	struct object_loan loan[LOAN_PAGE_OBJECTS];
};

struct loan_table {
	struct loan_table_attr attr;
	int dirfd; /* of DIR/lent */
	pthread_mutex_t lock; /* of the rest */
	struct loan_session *sessions;
	struct object_loans bucket[LOAN_BUCKETS];
	atomic_uint writer_holds
		[LOAN_BUCKETS]; /* write_hold_add(); read without the lock */
	uint64_t last_number;
	atomic_uint count, writers; /* all loans; those for writing */
	uint32_t era;
	uint64_t reported_at; /* loan_table_report_usage(), clock_boot() */
	_Atomic uint64_t next_expiry; /* no loan expires earlier; never 0 */
	TAILQ_HEAD(, object_loan) stuck;
	struct loan_history *history;
	struct loan_evictions *evictions;
	struct loan_watcher *watcher;
	pthread_cond_t changed; /* there is work for the watcher */
	atomic_bool stopping; /* the watcher has to end */
};

/* ---- loan_sessions.c ---- */

struct loan_session *loan_session_find(struct loan_table *table, uint64_t id);
/*
 * Finds the session of the request, or creates it.  The table owns it.  Errors are those of
 * loan_table_lend().
 */
int loan_session_get(struct loan_table *table,
		     const struct loan_request *request,
		     struct loan_session **ses);
static inline bool loan_session_is_over(const struct loan_session *ses)
{
	return ses->ended && !ses->stuck && !ses->evictions;
}
typedef void loan_session_end_fn(struct loan_table *table,
				 struct loan_session *ses);
/* Frees an ended session and removes its files. */
loan_session_end_fn loan_session_free;
/* Frees a session when this process ends: its files stay if the next process needs them. */
loan_session_end_fn loan_session_abandon;
/* Calls attr.add_usage. */
void loan_session_report_usage(struct loan_table *table,
			       struct loan_session *ses);

static inline struct object_loans *loan_bucket(struct loan_table *table,
					       struct object_key key)
{
	return &table->bucket[key.handle % LOAN_BUCKETS];
}
static inline uint32_t loan_index(const struct object_loan *loan)
{
	return (uint32_t)(loan - loan->ses->loan);
}
/* Returns a loan of the session that is not in use and whose mark is not set, or NULL. */
struct object_loan *loan_find_unused(struct loan_session *ses);
/* Lends the object to the session.  loan: one of its unused loans. */
void loan_start(struct loan_table *table, struct loan_session *ses,
		struct object_loan *loan, struct object_key key, bool write,
		const struct loan_request *request);
/* Revokes the loan.  The history keeps it. */
void loan_revoke(struct loan_table *table, struct object_loan *loan);
/*
 * Makes the next process ignore the mark of this loan.  The caller knows that no writer is
 * inside, or that the writer does no harm.
 */
void loan_ignore_mark(const struct object_loan *loan);

/* Records that a client may be writing to the object, until write_hold_remove(). */
void write_hold_add(struct loan_table *table, struct object_key key);
void write_hold_remove(struct loan_table *table, struct object_key key);

/* ---- loan_recall.c: stuck writers ---- */

/* Adds a revoked loan whose writer is inside: closes the object's gate and wakes the watcher. */
void stuck_writer_add(struct loan_table *table, struct object_loan *loan);
/* Opens the object's gate again.  If this was the last work for an ended session, calls end(). */
void stuck_writer_remove(struct loan_table *table, struct object_loan *loan,
			 loan_session_end_fn *end);
/* Call it when the writer has left, or writes to a file that is no longer the object. */
void stuck_writer_complete(struct loan_table *table, struct object_loan *loan);
void stuck_writers_complete_object(struct loan_table *table,
				   struct object_key key);
bool stuck_writers_has_object(const struct loan_table *table,
			      struct object_key key);
/*
 * Whether the writer has left.  Only the watcher calls it.  It releases the lock and takes it
 * again, because /proc can block on the memory of the process.
 */
bool stuck_writer_has_left(struct loan_table *table, struct object_loan *loan);
/*
 * Completes the stuck writers that have left their write, for all objects except this one.  Only
 * the watcher calls it.
 */
void stuck_writers_check_others(struct loan_table *table,
				struct object_key key);

/* ---- loan_recall.c: revoking ---- */

/* Revokes the loans that the client has returned in its marks. */
void loan_recall_returned(struct loan_table *table, struct loan_session *ses);
/*
 * Revokes all loans of the object.  True: the terms tell the stuck writers that the object is
 * replaced, so they repeat their write as a request.  False: a writer is stuck for less than
 * LOAN_REPLACE_MS and may be running, so the terms tell nobody: a running writer would repeat a
 * write that it has done, perhaps over later writes of others.
 */
bool loan_recall_object(struct loan_table *table, struct object_key key);

/* ---- object_replacement.c ---- */

/*
 * Replaces the object of a stuck writer, if this is due.  Only the watcher calls it.  It releases
 * the lock and takes it again.  Returns true if the object is replaced, and no writer is stuck in
 * it any more.
 */
bool object_replace_stuck(struct loan_table *table, struct object_loan *loan);

/* Makes table->evictions, before all other work on evictions.  -ENOMEM. */
int loan_evictions_open(struct loan_table *table);
/*
 * Frees table->evictions; call it last.  The next iod process replaces the objects that were not
 * replaced yet.
 */
void loan_evictions_close(struct loan_table *table);
/* Continues the evictions of the process before. */
void loan_evictions_resume(struct loan_table *table);
/* Whether the session is evicted, so it gets no more loans. */
bool loan_session_is_evicted(const struct loan_table *table, uint64_t session);
/* Whether the object is being replaced for an eviction, or waits for that. */
bool loan_evictions_has_object(const struct loan_table *table,
			       struct object_key key);
/*
 * Replaces one object of an evicted session.  Only the watcher calls it.  It releases the lock and
 * takes it again.  Returns true if it replaced one; there may be more.
 */
bool loan_evictions_replace_next(struct loan_table *table);
/* Whether no object of an evicted session can be replaced now. */
bool loan_evictions_are_idle(const struct loan_table *table);
/* Waits for table->changed, or until a deferred object is to be retried. */
void loan_evictions_wait(struct loan_table *table);

/* ---- loan_recovery.c ---- */

/* Revokes the loans of the process before.  -EBUSY or -errno. */
int loan_recovery_run(struct loan_table *table);

#endif
