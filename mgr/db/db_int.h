/* SPDX-License-Identifier: BSD-2-Clause */
/* db_int.h - what the files of the store share. */
#ifndef DB_INT_H
#define DB_INT_H

#include <db.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "mgr/db/handle.h"
#include "mgr/db/store.h"

/*
 * Identifiers are reserved in ranges; after a crash the rest of the range is skipped.
 * The store reserves a new range when half of the last one is left.  That half is far
 * more than can be issued before the next flush.
 */
#define STORE_ID_RANGE (UINT64_C(1) << 20)
#define STORE_ID_TURN                                                          \
	(UINT64_C(1) << 16) /* most identifiers in one transaction */

#define STORE_PAGE 4096u /* bytes of a page */
/*
 * With several managers: a table whose rows differ between the managers (undo.c, applied_row.c).
 * Its rows are in no write set.
 */
#define TABLE_MEMBER STORE_TABLES
#define STORE_FILES (STORE_TABLES + 1) /* number of files */
#define STORE_LOG_FILE (16u << 20) /* bytes of one log file */
#define STORE_LOG_BUFFER (4u << 20)
/*
 * Error lines in the log until a checkpoint succeeds.  Berkeley DB reports a full disk
 * once for each page, and the log may be on that disk.
 */
#define STORE_ERRORS_MAX 8u

/* Space of a table's file: store_space.c. */
struct table_space {
	int fd; /* our own descriptor; Berkeley DB has another one */
	uint64_t covered; /* bytes from the start that have blocks */
	unsigned int puts; /* number of puts since the last check */
};

/* The end of the log that was flushed, and the file that records it: log_end.c. */
struct log_end {
	pthread_mutex_t lock; /* protects end, dirty and the contents of fd */
	int fd;
	uint64_t end; /* log file << 32 | offset in it */
	bool dirty; /* the record was written and not yet flushed */
};

struct store {
	const struct log *log;
	bool accept_loss; /* opens the store even if the end of the log is lost */
	DB_ENV *env;
	DB *db[STORE_FILES];
	/* STORE_FILES, or one less if there is no TABLE_MEMBER */
	unsigned int files;
	DB_TXN *txn;
	bool changed;
	uint64_t work; /* rows accessed since the open */
	atomic_bool failed;
	bool closing; /* closing after a failure: log no further errors */
	char *home;
	/* see replication_int.h; NULL if there is one manager */
	struct replication *rep;
	uint64_t id_next, id_end;
	/* below id_safe the reservation is committed; id_change reserves up to id_end */
	uint64_t id_safe, id_change;
	uint64_t hash_key[2];
	struct lock_index *locks; /* lock_index.h */
	struct handle_cipher handles;
	bool handles_keyed;
	pthread_mutex_t checkpoint_lock; /* one checkpoint or copy at a time */
	struct store_copying *copy; /* see backup.c; NULL if there is no copy */
	atomic_bool
		/* the sink of the copy returned an error, which Berkeley DB repeats */
		copy_refused;
	struct table_space table_space[STORE_FILES];
	bool tables_short; /* a table could not get its slack */
	pthread_mutex_t log_files_lock; /* protects log_files_made */
	struct log_end log_end;
	uint32_t log_files_made; /* number of the last log file that is allocated */
	_Atomic(enum store_space) space_state;
	/* time of the last check of the space, clock_now() */
	uint64_t space_checked;
	atomic_bool full; /* the last flush or checkpoint found no space */
	/* an operation after the last successful checkpoint found no space */
	atomic_bool was_full;
	/* durations of the checkpoints that wrote something */
	struct timing checkpoints;
	/* the values that were read last; only the store's thread uses them */
	struct store_counts counts;
	/* time (clock_now()) at which the counts of the cache are read again */
	uint64_t cache_read_next;
	atomic_uint
		errors_logged; /* error lines since the last good checkpoint */
};

static inline DBT dbt_in(const void *data, size_t len)
{
	return (DBT){ .data = (void *)data, .size = (u_int32_t)len };
}

static inline DBT dbt_out(void *buf, size_t cap)
{
	return (DBT){ .data = buf,
		      .ulen = (u_int32_t)cap,
		      .flags = DB_DBT_USERMEM };
}

/* ---- store_errors.c; any thread ---- */

/* Translates a return value of Berkeley DB.  Logs a failure and marks the store as failed. */
int store_error(struct store *st, int ret, const char *what);
/*
 * Counts an error line. Returns false if it must not be logged, because there were STORE_ERRORS_MAX
 * since the last successful checkpoint.
 */
bool store_may_log(struct store *st);

/* ---- log_files.c ---- */

/*
 * Call it before recovery. Returns 0, or -ENOSPC if there is no space even for the first log file.
 */
int log_files_prepare(struct store *st);
/* Call it after recovery. */
void log_files_begin(struct store *st);
/* Allocates the next log files. Only for the store's thread. */
enum store_space log_files_check_space(struct store *st);
/* Call it after a checkpoint, from one thread at a time. */
void log_files_recycle(struct store *st);
/*
 * Sets *last to the last log file that has contents, or to 0 if there is none. Returns 0, or -errno
 * if the log files cannot be read.
 */
int log_files_last(const struct store *st, uint32_t *last);

/* ---- log_end.c ---- */

/*
 * Checks that the log is readable up to the point to which it was flushed. Call it before recovery.
 * Returns 0; -EBADMSG if it is not readable, or if this cannot be determined; or another -errno,
 * which may be temporary. Errors are logged.
 */
int log_end_check(struct store *st);
#define LOG_END_FILE "log_end"
#define LOG_END_SIZE 24u /* bytes */
/* Writes the contents of the file to record. */
void log_end_encode(uint64_t end, uint8_t record[LOG_END_SIZE]);
/*
 * Opens the file. Call it after recovery. Returns 0; -EIO if must_exist is set and there is no
 * file, which is logged; or another -errno.
 */
int log_end_find(struct store *st, bool must_exist);
/* Makes the file. Call it before the first flush. Returns 0, or -errno, which is logged. */
int log_end_make(struct store *st);
void log_end_close(struct store *st);
/* Logs that the store cannot be opened even though attr.accept_loss is set. */
void log_end_report_lost(const struct store *st);
/* Returns the end of the log that a flush covers if it begins now. Any thread may call it. */
uint64_t log_end_before_flush(struct store *st);
/*
 * Records the end after that flush. Call it before the changes are acknowledged. Any thread may
 * call it. After an error, which is logged, no change may be acknowledged. -ENOSPC means that there
 * is no space, and that the caller may try again; -EIO means that the store has failed.
 */
int log_end_flushed(struct store *st, uint64_t end);
/* Flushes the file that records the end of the log. Only one thread at a time may call it. */
void log_end_sync(struct store *st);

/* ---- store_space.c; the store's thread ---- */

int table_space_open(struct store *st);
void table_space_close(struct store *st);
void table_space_before_put(struct store *st, enum store_table table);
/* Call them before and after a transaction with changes is undone. */
void table_space_before_abort(struct store *st, uint64_t end[STORE_FILES]);
void table_space_after_abort(struct store *st,
			     const uint64_t before[STORE_FILES]);
/* Sets *left to the free bytes on the disk.  Returns false if they cannot be determined. */
bool store_free_bytes(const struct store *st, uint64_t *left);

/* ---- raw_rows.c: the transaction and rows of Berkeley DB; store's thread ---- */

int raw_begin(struct store *st);
int raw_commit(struct store *st);
void raw_abort(struct store *st);
/* Commits if rc is 0, otherwise undoes the transaction. Returns rc, or the result of the commit. */
int raw_end(struct store *st, int rc);
/*
 * These correspond to store_get(), store_put() or store_insert() (DB_NOOVERWRITE), and store_del().
 */
int raw_get(struct store *st, enum store_table table, const void *key,
	    size_t klen, void *val, size_t cap, size_t *len);
int raw_put(struct store *st, enum store_table table, const void *key,
	    size_t klen, const void *val, size_t len, u_int32_t flags);
int raw_del(struct store *st, enum store_table table, const void *key,
	    size_t klen);

/* ---- table_pages.c; nobody has the table open, and all its pages are written ---- */

/*
 * Checks every page of the table and logs the damage. Returns 0; -EIO if a page is damaged or
 * missing; or -ENOMEM.
 */
int table_pages_check(const struct store_attr *attr, const char *table);
/*
 * Looks for pages of zeros in the whole file; if it finds one, checks the whole table. Berkeley DB
 * treats such a page as never written: a cursor ends there without an error, and all later rows are
 * missing. A crash may also leave a page of zeros that no other page refers to, which is no damage.
 * Returns 0, a result of table_pages_check(), or an error of the file.
 */
int table_pages_check_zeros(const struct store_attr *attr, const char *table);

/* ---- environment.c ---- */

const char *store_table_name(enum store_table table);
/*
 * Recovers the environment without opening its tables.  The tables then contain all changes of the
 * log.
 */
int environment_recover(struct store *st, const struct store_attr *attr);
/* As environment_recover(), and opens the tables. Call environment_close() also after an error. */
int environment_open(struct store *st, const struct store_attr *attr);
void environment_close(struct store *st);

/* ---- transaction.c ---- */

/* Commits if rc is 0, otherwise undoes the transaction. Returns rc, or the result of the commit. */
int transaction_end(struct store *st, int rc);
/* Flushes Berkeley DB's log, also with several managers. Any thread may call it. */
int store_flush_log(struct store *st);
/* Begins to reserve identifiers.  Before this call, id_end must be UINT64_MAX. */
int ids_open(struct store *st);

/* ---- group.c; the store's thread ---- */

/* Sets *marked to whether this is the store of one of several managers. Returns 0 or -EIO. */
int group_mark_get(struct store *st, bool *marked);
/* Marks the store as that of a manager in a group.  A transaction must be open. */
int group_mark_put(struct store *st);
/*
 * Opens a store with st->rep.  If it is not yet the store of one of several managers, makes it one.
 * Undoes the changes that are not committed.
 */
int group_open(struct store *st);
/* Undoes the changes that are not committed, and makes the store that of a single manager. */
int group_leave(struct store *st);

/* ---- keys and rows that are loaded at the start ---- */

int dent_hash_open(struct store *st);
/* Call it in the transaction that makes the database. */
int handle_key_make(struct store *st);
int handle_open(struct store *st);
/*
 * Loads all rows into memory. Transactions then keep the index up to date. Returns -EIO, which is
 * logged, if a row is damaged.
 */
int lock_rows_open(struct store *st);
/* Checks all rows. Returns 0, or -EIO, which is logged, if a row is damaged. */
int lock_rows_check(struct store *st);

#endif
