/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * store.h - the metadata store: tables of rows, one transaction at a time, and a log that makes
 * committed transactions durable.
 *
 * 	store_begin() -- store_put(), store_insert(), store_del() --.-- store_commit() -- store_flush()
 * 	                                                            '-- store_abort()
 *
 * Transactions.  The rows that a transaction has put and deleted are its write set.  Every change
 * of a row goes through store_put(), store_insert() or store_del(); the store itself uses them
 * too.  store_commit() makes the write set atomic and visible.  store_abort() undoes it.
 *
 * Durability.  A transaction is durable once a store_flush() that began after its commit has
 * returned 0.  The log is flushed in order: if a transaction survives a crash, all earlier ones
 * survive too.  Until then no one outside of this process may learn of a committed transaction.
 *
 * Several managers.  Their stores have the same rows: see attr.replicated and "several managers".
 *
 * Threads.  One thread owns the tables, the cursors and the transaction: the store's thread.  Any
 * thread may call store_flush(), store_checkpoint(), store_failed(), store_was_full(),
 * store_is_short(), store_log(), store_checkpoint_times(), store_note_*(), store_next_entry(),
 * store_last_change(), store_is_committed(), store_durable_index() and store_copy(), also while a
 * transaction is open.  All other functions are for the store's thread.
 *
 * Errors.  -ENOENT, -EEXIST, -ENOSPC and the errors that a function below names, except -EIO,
 * concern only the call.  The store logs any other error once, returns -EIO, and from then on
 * store_failed() is true.  The process must then stop; the next start recovers.
 *
 * The rows of each table have a header of their own.  Only the files of mgr/db use tables by
 * number.
 */
#ifndef STORE_H
#define STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/util/log.h"
#include "common/util/histogram.h"

struct store;

/*
 * Stores an entry in the log of all managers.  Returns 0 once a majority has stored it and
 * store_note_own_entry() was called for it; the entry is valid until then.  Blocks; the thread of
 * store_flush() calls it, one call at a time.  -ENOSPC: the entry is not in the log, and the store
 * sends it again at the next flush.  After any other -errno the store fails.
 */
typedef int store_replicate_fn(void *arg, const void *entry, size_t len);

/* ---- open and close ---- */

struct store_attr {
	const char *dir; /* exists; the store makes "db" in it */
	uint64_t cache_size; /* bytes of page cache */
	const struct log *log; /* must outlive the store */
	/* opens the store even if acknowledged changes are lost */
	bool accept_loss;
	bool replicated; /* this is the store of one of several managers */
	store_replicate_fn *replicate; /* or NULL: see store_next_entry() */
	void *replicate_arg;
	/*
	 * Converts the store of a member of a group to the store of a single manager.  Changes in
	 * the managers' log after store_get_applied() are lost, so apply them before.
	 */
	bool leave_group;
	/* As leave_group, for a store that has applied at most the entry that founded a group. */
	bool leave_unused_group;
};

/*
 * Opens and recovers the store, or makes an empty one.  attr is not used afterwards.  -ENOSPC: the
 * disk is too full for recovery; nothing is lost.  -EIO: the store is damaged, or the log ends
 * before the point up to which it was flushed.  -EPERM: without attr.replicated, it is the store of
 * one of several managers.
 */
int store_open(const struct store_attr *attr, struct store **st);
/*
 * Recovers a store that no process has open, checks every page, and logs all damage.  0: there is
 * none.
 */
int store_check(const struct store_attr *attr);
/* st may be NULL.  No transaction may be open.  Writes a checkpoint unless the store failed. */
void store_close(struct store *st);

/* Returns true after a permanent failure.  The process must then stop. */
bool store_failed(const struct store *st);
/* Whether an operation failed for lack of disk space, which may be the cause of store_failed(). */
bool store_was_full(const struct store *st);
const struct log *store_log(const struct store *st);

/* ---- transactions ---- */

/*
 * No transaction may be open.  May first commit a transaction of its own, which reserves
 * identifiers: store_new_id() hands out only numbers that a committed transaction has reserved.
 * -EAGAIN: with several managers and without attr.replicate, the entry that reserves them is not
 * committed yet.
 */
int store_begin(struct store *st);
/*
 * After an error the transaction is undone.  -E2BIG: with several managers, its write set exceeds
 * STORE_ENTRY_MAX.
 */
int store_commit(struct store *st);
void store_abort(struct store *st);
/* Whether the open transaction has a write set. */
bool store_changed(const struct store *st);

/*
 * Returns once all transactions that were committed before the call are durable; with several
 * managers: at a majority of them.  -ENOSPC: the disk is full; they stay committed, and a later
 * flush makes them durable.  -EAGAIN: with several managers and without attr.replicate,
 * some of them are not committed yet.
 */
int store_flush(struct store *st);
/*
 * Writes changed pages back if at least kbyte KiB of log were written since the last checkpoint.
 * Bounds the log that a recovery reads, and frees old log files.  Does nothing during a
 * store_copy().
 */
int store_checkpoint(struct store *st, unsigned int kbyte);

/* ---- several managers ---- */

/*
 * One manager leads.  Its transactions go into entries of the managers' log, and the others apply
 * each entry once it is committed there:
 *
 * 	leader   store_lead(), then transactions; store_flush() -> attr.replicate() ->
 * 	         store_note_own_entry()
 * 	others   store_apply()
 * 	both     store_note_committed(), store_note_configuration() of entries without changes
 *
 * Each committed entry is passed to one of these four functions, in the order of the log, from one
 * thread at a time.  Entries without changes may be left out.  Their common errors: -EALREADY: the
 * store has this index.  -EILSEQ: the changes of the entry do not follow those in the store.
 * -EBADMSG: not an entry.
 *
 * The tables of the leader contain changes that are not committed.  Each open undoes them, so after
 * store_open() the tables are exactly as after the entry store_get_applied().  A manager that no
 * longer leads closes its store, or ends, and opens it again.  The tables of an empty store stay
 * empty until the first leader's first entry.
 *
 * A checkpoint makes the applied entries durable.  After a crash, entries are applied again from
 * the index that the store has then.
 */
#define STORE_ENTRY_MAX ((4u << 20) - (4u << 10)) /* bytes in an entry */
#define STORE_CONFIG_MAX 1024u /* bytes in a configuration */

struct store_applied {
	uint64_t index, term; /* of the last entry; 0: none */
	uint64_t change; /* number of the last change */
	/* the last committed configuration, as noted; 0: none */
	uint64_t config_index;
	size_t config_len;
	uint8_t config[STORE_CONFIG_MAX];
};

/* The position that the database has recorded.  -ENOENT: there is one manager. */
int store_get_applied(struct store *st, struct store_applied *applied);
/*
 * Prepares the store of a new leader: writes rows that may be missing, and flushes them; without
 * attr.replicate it does not wait.  All committed entries must have been applied.  After an error
 * the store must be closed.
 */
int store_lead(struct store *st);
/*
 * Without attr.replicate: the next entry to put into the managers' log.  Returns each entry once;
 * it is valid until store_note_own_entry() for it returns.  Any thread.  -ENOENT: entries that were
 * already returned contain all transactions until now.
 */
int store_next_entry(struct store *st, const void **entry, size_t *len);
/*
 * The number of the last change; numbers rise.  A transaction may have read rows of any change up
 * to this one.  No client and no iod may learn of these rows until store_is_committed() is true for
 * it.
 */
uint64_t store_last_change(struct store *st);
bool store_is_committed(struct store *st, uint64_t change);
/* An entry of another leader.  -ENOSPC: nothing is applied.  -EPERM: this manager leads. */
int store_apply(struct store *st, uint64_t index, uint64_t term,
		const void *entry, size_t len);
/*
 * An entry that this store made.  It is committed now, so its changes need not be undone at the
 * next open: the next transaction invalidates the rows that would undo them.
 */
int store_note_own_entry(struct store *st, uint64_t index, uint64_t term,
			 const void *entry, size_t len);
/* An entry that changes no rows. */
int store_note_committed(struct store *st, uint64_t index, uint64_t term);
/* A configuration of the managers; any bytes.  -E2BIG: more than STORE_CONFIG_MAX. */
int store_note_configuration(struct store *st, uint64_t index, uint64_t term,
			     const void *config, size_t len);
/*
 * Writes the noted position to the database, as the next transaction would do.  Call it before the
 * store becomes idle.  No transaction may be open.
 */
int store_record_committed(struct store *st);
/*
 * The index up to which applied entries survive a power loss: store_get_applied() then returns it
 * or a higher one.
 */
uint64_t store_durable_index(const struct store *st);

/* ---- rows ---- */

enum store_table {
	STORE_META, /* name -> value: meta_get() */
	STORE_INODES, /* handle -> inode.h */
	STORE_DIRENTS, /* directory, hash, name -> dent.h */
	STORE_SYMLINKS, /* handle -> target; handle, name -> attribute: inode.h */
	STORE_OPENS, /* session, open id -> sessions.h */
	STORE_SESSIONS, /* session -> sessions.h */
	STORE_REPLIES, /* session, slot -> sessions.h */
	STORE_INTENTS, /* kind, id -> intents.h */
	STORE_ENDED_SESSIONS, /* seq -> ended_sessions.h */
	STORE_LOCKS, /* handle, session, owner, ... -> lock_rows.h */
	STORE_LOCKERS, /* session, handle -> number of locks: lock_rows.h */
	STORE_TABLES
};

#define STORE_KEY_MAX 512u /* bytes in a key */
#define STORE_VAL_MAX 8192u /* bytes in a value */

/*
 * Copies the value to val, which has cap bytes; it must fit.  Sets *len (may be NULL) to its
 * length. -ENOENT.
 */
int store_get(struct store *st, enum store_table table, const void *key,
	      size_t klen, void *val, size_t cap, size_t *len);
/* These functions change rows: a transaction must be open.  The store copies key and val. */
int store_put(struct store *st, enum store_table table, const void *key,
	      size_t klen, const void *val, size_t len);
/* -EEXIST: the key exists. */
int store_insert(struct store *st, enum store_table table, const void *key,
		 size_t klen, const void *val, size_t len);
/* -ENOENT: the key does not exist. */
int store_del(struct store *st, enum store_table table, const void *key,
	      size_t klen);

/* Named values, in STORE_META.  -EIO: the value has another length. */
int meta_get(struct store *st, const char *name, void *val, size_t len);
int meta_put(struct store *st, const char *name, const void *val, size_t len);
int meta_get_u64(struct store *st, const char *name, uint64_t *val);
int meta_put_u64(struct store *st, const char *name, uint64_t val);
int meta_del(struct store *st, const char *name);

/* Big-endian, so that keys sort as numbers. */
static inline void *key_u64(void *p, uint64_t v)
{
	uint8_t *b = p;

	for (int i = 0; i < 8; i++)
		b[i] = (uint8_t)(v >> (56 - 8 * i));
	return b + 8;
}

static inline uint64_t key_get_u64(const void *p)
{
	const uint8_t *b = p;
	uint64_t v = 0;

	for (int i = 0; i < 8; i++)
		v = v << 8 | b[i];
	return v;
}

/* ---- cursors ---- */

/*
 * Walks a table upwards from the first key that is not below `from`.  The table may change during
 * the walk.  If a transaction is open, close the cursor before it ends.  Memory of the caller.
 */
struct store_cursor {
	struct store *st;
	void *cursor;
	int started;
	/* the current row */
	uint8_t key[STORE_KEY_MAX];
	size_t klen;
	uint8_t val[STORE_VAL_MAX];
	size_t len;
};
int store_cursor_open(struct store *st, enum store_table table,
		      const void *from, size_t flen, struct store_cursor *it);
/* -ENOENT: there are no more rows. */
int store_cursor_next(struct store_cursor *it);
/* Continues the walk at the first key that is not below `from`. */
void store_cursor_seek(struct store_cursor *it, const void *from, size_t flen);
/*
 * Moves to the last key that is not above `key`; the walk continues upwards after it.  -ENOENT:
 * there is none.
 */
int store_cursor_floor(struct store_cursor *it, const void *key, size_t klen);
void store_cursor_close(struct store_cursor *it);
/*
 * Reads only the first row that is not below `from` into it->key and it->val; nothing is to be
 * closed.  -ENOENT.
 */
int store_get_first(struct store *st, enum store_table table, const void *from,
		    size_t flen, struct store_cursor *it);

/* ---- identifiers ---- */

/*
 * A number that was never issued before, not even in a lost transaction.  Handles, open ids and
 * intents share these numbers.  A transaction must be open.  With several managers, at most 65,536
 * in one transaction.
 */
uint64_t store_new_id(struct store *st);
/*
 * From now on no number below `from` is issued.  No transaction may be open; durable after a
 * flush.
 */
int store_skip_ids(struct store *st, uint64_t from);
/* Returns false if this id was certainly never issued. */
bool store_id_was_issued(const struct store *st, uint64_t id);

/* ---- space ---- */

/* How short disk space is, and so which changes are still allowed. */
enum store_space {
	STORE_SPACE_OK, /* all changes */
	STORE_SPACE_LOW, /* changes that free space */
	STORE_SPACE_NONE, /* none that can be avoided */
};
/* Checks the disk from time to time, and reserves the space that changes will need. */
enum store_space store_check_space(struct store *st);
/* Whether the last check found less than STORE_SPACE_OK. */
bool store_is_short(const struct store *st);

/* ---- a copy of a store in use ---- */

/*
 * Receives the files of a copy, in turn.  The functions return 0, or -errno, which ends the copy.
 */
struct store_sink {
	/* The next file of the folder "db" begins. */
	int (*file)(void *arg, const char *name);
	/* The next part of the file; parts have no gaps. */
	int (*data)(void *arg, uint64_t offset, const void *bytes, size_t len);
	void *arg;
};

/*
 * Copies the store while it is used.  The copy contains the transactions that were committed at
 * some moment during the call; with several managers, the entries that were applied at such a
 * moment. Needs at most a few hundred KiB of memory.  The log grows until the copy ends.  -ENOSPC:
 * the disk of the store is short of space.  -EIO: also, logged, if a table could not be read.
 */
int store_copy(struct store *st, const struct store_sink *sink);

/* ---- counters ---- */

/* Rows that were read, written or passed over by a cursor since the open. */
uint64_t store_rows_accessed(const struct store *st);
/*
 * Counts of the database since it was opened.  The counts of the cache may be a little old.  -EIO:
 * the store failed.
 */
struct store_counts {
	uint64_t cache_bytes, pages, dirty; /* dirty: not yet written */
	uint64_t hits, misses; /* pages that were in the cache, or not */
	uint64_t written, evicted; /* pages */
	uint64_t commits, aborts;
	/* log_since: since the last checkpoint */
	uint64_t log_bytes, log_since;
	uint64_t log_flushes;
};
int store_get_counts(struct store *st, struct store_counts *counts);
/* Durations of the checkpoints that wrote something. */
const struct timing *store_checkpoint_times(const struct store *st);

#endif
