/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * loan_table.h - objects that clients of this host read and write directly: which session
 * borrows which object, and how a loan ends (common/wire/loan_pages.h, docs/internals.md).
 *
 * Loans for writing are revoked when the iod's lease expires or the session ends.  If the
 * client is inside a write then, the object's gate stays closed for everybody, as for a late
 * change (gate.h), until the write ends, or for LOAN_REPLACE_MS.  Then the object is replaced
 * by a copy, and the rest of the write goes to the old file, which is no longer the object.
 * If the store has no room for a copy, the gate stays closed and the replacement is retried.  A
 * stopped process (SIGSTOP) that may be killed from here is then killed after LOAN_KILL_MS.  A
 * running process is not killed: a signal handler may have left the write by a jump, and then
 * its mark stays.
 *
 * DIR/lent keeps what the next process of the iod needs: SESSION.terms and SESSION.marks of the
 * loans (loan_files.h), and .had, what sessions borrowed, if the store lies in memory
 * (loan_history.h).  The next process revokes the loans of the one before.  If that was of
 * an earlier release, it first waits for clients that are inside a write.  If nothing is lent for
 * writing (attr.reads), the pages have no names.
 *
 * All functions except loan_table_open() and loan_table_close() may be called from any thread.
 * They take the table's lock, and block only on the files of DIR/lent.
 */
#ifndef LOAN_TABLE_H
#define LOAN_TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/wire/loan_pages.h"
#include "common/wire/wire.h"
#include "server/lend/loan_usage.h"
#include "server/store/object_store.h"

#define LOAN_REPLACE_MS 100u
#define LOAN_KILL_MS 2000u
#define LOAN_SESSIONS_MAX 1024u /* further sessions get no loans */

struct loan_table;

/* The user of a session, and its job. */
struct loan_user {
	uint32_t uid;
	char job[WIRE_JOB_MAX]; /* then zeros */
};

struct loan_table_attr {
	const char *dir; /* of the store; used only while opening */
	struct object_store *store; /* outlives the table, as does log */
	const struct log *log;
	bool reads; /* nothing is lent for writing */
	/* The direct access of a session since the last call: reads [0], writes [1].  Called with
	 * the lock held.  NULL: not reported. */
	void (*add_usage)(void *arg, const struct loan_user *who,
			  const struct loan_usage usage[2]);
	void *arg;
};

/*
 * Revokes the loans of the process before and starts the watcher thread.  -EBUSY: a process that
 * borrowed from an earlier release stays inside a write; -errno.  Errors are logged
 * with cause and remedy.
 */
int loan_table_open(const struct loan_table_attr *attr,
		    struct loan_table **table);
/*
 * Revokes all loans.  The next loan_table_open() handles clients that are still inside a write.
 * NULL: nothing happens.
 */
void loan_table_close(struct loan_table *table);

struct loan_request {
	uint64_t session;
	pid_t pid; /* of the client, from the kernel */
	uid_t uid; /* of that process */
	bool read, write; /* at least one */
	bool trusted; /* it may block others: it could end this process, or is allowed to */
	uint64_t until; /* the loan expires, clock_boot(); UINT64_MAX: never */
	uint32_t era; /* as in loan_table_set_era(); 0 before */
	const char *peer; /* for messages */
	struct loan_user who; /* for attr.add_usage */
};
struct loan_grant {
	uint64_t number;
	uint64_t inode;
	uint32_t index;
	bool write; /* requested and granted */
	bool clock; /* the client has to check that its clock is the iod's */
	int fd; /* of the object; the caller closes it */
	int page[LOAN_PAGE_COUNT]; /* gate, terms, marks; the table owns them */
};
/*
 * Lends an object.
 * -EACCES: the client may not read, and writing is not possible; -ENOKEY: other era;
 * -ENOSPC: the session has LOAN_PAGE_OBJECTS loans, or the history cannot be written;
 * -EMFILE: LOAN_SESSIONS_MAX sessions borrow, or descriptors are short;
 * -ESRCH: the process is not visible from here, or belongs to another user;
 * -ESTALE: the session is evicted; -EBUSY: a borrower is stuck inside a write to the object;
 * -EOPNOTSUPP: clients could not see the end of this process, or the client is not trusted and
 * the object lies on a disk; -errno.
 */
int loan_table_lend(struct loan_table *table, struct store_obj *obj,
		    const struct loan_request *request,
		    struct loan_grant *grant);
/* Ends a loan whose grant did not reach the client. */
void loan_table_cancel(struct loan_table *table, uint64_t session,
		       const struct loan_grant *grant);
/* Revokes the loans of a session that ends. */
void loan_session_end(struct loan_table *table, uint64_t session);
/* Before that, for an eviction: starts to replace all objects that the session has or had. */
void loan_session_evict(struct loan_table *table, uint64_t session);
/* Replacements for an evicted session are still to be tried once. */
bool loan_evictions_pending(struct loan_table *table);
/* Objects for whose copy there was no room.  Clients use them, and the copy is retried. */
unsigned int loan_evictions_deferred(const struct loan_table *table);
/* In a new era, revokes all loans that expire; later loans need this era. */
void loan_table_set_era(struct loan_table *table, uint32_t era);
/* The object is removed from the store: ends its loans. */
void loan_object_drop(struct loan_table *table, uint64_t handle);
/*
 * Revokes loans that have expired, and loans for writing if the lease has.  Call it before the
 * lease is extended, and before serving anything that clients could have changed.
 */
void loan_table_expire(struct loan_table *table);
/* Calls attr.add_usage for all sessions, at most once in LOAN_REPORT_MS. */
#define LOAN_REPORT_MS 100u
void loan_table_report_usage(struct loan_table *table);
/* Sets when clients have to stop writing; clock_boot(). */
void loan_table_set_lease(struct loan_table *table, uint64_t until);
/*
 * A client of this host may be writing to the object.  The kernel then blocks other changes of
 * the file until the memory that the client writes from arrives.  This memory may come from this
 * iod, so a serving thread must not wait for it.  Takes no lock; seldom true for another object.
 */
bool loan_object_has_writer(const struct loan_table *table, uint64_t handle);
/* A client is inside a write to it now, or this takes too long to find out. */
bool loan_object_is_busy(struct loan_table *table, uint64_t handle);
/* The number of loans.  Takes no lock. */
unsigned int loan_table_count(const struct loan_table *table);

#endif
