/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * loan_table.h - objects that clients of this host read and write directly: which session borrows
 * which object, and how a loan ends (common/wire/loan_pages.h, docs/internals.md).
 *
 * Loans for writing are revoked when the iod's lease expires or the session ends.  If the client
 * is inside a write at that moment, the object's gate stays closed for everybody, as for a late
 * change (gate.h).  If the write does not end within LOAN_REPLACE_MS, the object is replaced by a
 * copy.  The rest of the write then goes to the old file, which is no longer the object.
 *
 * If the store has no room for a copy, the gate stays closed and the replacement is retried.
 * After LOAN_KILL_MS, a client that is stopped (SIGSTOP) is killed, if this process may kill it.
 * A running client is not killed: a signal handler may have left the write by a jump, and then
 * the mark stays without a writer.
 *
 * DIR/lent keeps what the next process of the iod needs: SESSION.terms and SESSION.marks of the
 * loans (loan_files.h).  If the store lies in memory, .had has the objects that sessions borrowed
 * (loan_history.h).  The next process revokes the loans of the one before.  If the process before
 * was of an earlier release, the next one first waits for clients that are inside a write.  If
 * nothing is lent for writing (attr.reads), the pages have no names.
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
	const char *dir; /* of the store; used only by loan_table_open() */
	/* store and log must exist until loan_table_close() */
	struct object_store *store;
	const struct log *log;
	bool reads; /* nothing is lent for writing */
	/*
	 * Gets the direct accesses of a session since the last call: reads in usage[0], writes in
	 * usage[1].  Called with the table's lock held.  NULL: nothing is reported.
	 */
	void (*add_usage)(void *arg, const struct loan_user *who,
			  const struct loan_usage usage[2]);
	void *arg;
};

/*
 * Revokes the loans of the process before and starts the watcher thread.  -EBUSY: a client that
 * borrowed from an earlier release stays inside a write.  -ENOMEM, -errno of the files.  Errors
 * are logged with cause and remedy.
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
	uid_t uid; /* of the client's process */
	bool read, write; /* the access that is requested; at least one */
	/* the client may block others: it could end this process anyway, or direct = all */
	bool trusted;
	uint64_t until; /* end of the loan, clock_boot(); UINT64_MAX: none */
	uint32_t era; /* as given to loan_table_set_era(); 0 before the first call */
	const char *peer; /* for messages */
	struct loan_user who; /* for attr.add_usage */
};
struct loan_grant {
	uint64_t number; /* of the loan */
	uint64_t inode; /* of the object's file */
	uint32_t index; /* of the loan in terms and marks */
	bool write; /* writing was requested and granted */
	bool clock; /* the client has to check that its clock is the iod's */
	int fd; /* of the object; the caller closes it */
	int page[LOAN_PAGE_COUNT]; /* gate, terms, marks; the table owns them */
};
/*
 * Lends an object; fills *grant.  If writing is not possible, the object may be lent for reading
 * only (grant->write).  Objects of other groups than the own one are never lent for writing.
 * -EACCES: the client did not request to read, and writing is not possible.
 * -ENOKEY: request->era is not the present era.
 * -ENOSPC: the session has LOAN_PAGE_OBJECTS loans, or the history cannot be written.
 * -EMFILE: LOAN_SESSIONS_MAX sessions borrow, or few descriptors are left.
 * -ESRCH: the client's process is not visible from here, or belongs to another user.
 * -ESTALE: the session is evicted.
 * -EBUSY: a borrower is stuck inside a write to the object.
 * -EOPNOTSUPP: clients could not notice the end of this process; or the client is not trusted and
 * the object lies on a disk.
 * Other -errno are those of the files.
 */
int loan_table_lend(struct loan_table *table, struct store_obj *obj,
		    const struct loan_request *request,
		    struct loan_grant *grant);
/* Ends a loan whose grant did not reach the client. */
void loan_table_cancel(struct loan_table *table, uint64_t session,
		       const struct loan_grant *grant);
/* Revokes the loans of a session that ends. */
void loan_session_end(struct loan_table *table, uint64_t session);
/*
 * For an eviction, before loan_session_end(): starts to replace all objects that the session
 * borrows or has borrowed.  The session gets no more loans.
 */
void loan_session_evict(struct loan_table *table, uint64_t session);
/* Whether some objects of evicted sessions have not been tried yet. */
bool loan_evictions_pending(struct loan_table *table);
/*
 * The number of objects of evicted sessions that are not replaced because there was no room for a
 * copy.  Clients use them, and the copy is retried.
 */
unsigned int loan_evictions_deferred(const struct loan_table *table);
/*
 * Begins an era of keys.  If it is a new one, revokes all loans that have an end; later loans need
 * this era in their request.
 */
void loan_table_set_era(struct loan_table *table, uint32_t era);
/* The object is removed from the store: ends its loans. */
void loan_object_drop(struct loan_table *table, struct object_key key);
/*
 * Revokes loans that have expired, and all loans for writing if the iod's lease has expired.  Call
 * it before the lease is extended, and before an access to an object that borrowers could change.
 */
void loan_table_expire(struct loan_table *table);
/* Calls attr.add_usage for all sessions.  Does nothing within LOAN_REPORT_MS of the last call. */
#define LOAN_REPORT_MS 100u
void loan_table_report_usage(struct loan_table *table);
/* Sets the end of the iod's lease, clock_boot(): borrowers must not write after it. */
void loan_table_set_lease(struct loan_table *table, uint64_t until);
/*
 * Whether a client of this host may have borrowed the object for writing.  A direct write holds
 * the kernel's lock of the file while the kernel faults in the client's source memory.  This
 * memory may be a mapped file of this very iod.  So a serving thread must not wait for that
 * lock.  Takes no lock.  Rarely true without a loan, because several objects share one counter.
 */
bool loan_object_has_writer(const struct loan_table *table,
			    struct object_key key);
/* Whether a client is inside a write to the object now; true if that takes too long to find out. */
bool loan_object_is_busy(struct loan_table *table, struct object_key key);
/* The number of loans.  Takes no lock. */
unsigned int loan_table_count(const struct loan_table *table);

#endif
