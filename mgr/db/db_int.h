/* SPDX-License-Identifier: BSD-2-Clause */
/* db_int.h - what the files of the store share. */
#ifndef DB_INT_H
#define DB_INT_H

#include <db.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>

#include "mgr/db/handle.h"
#include "mgr/db/store.h"

/*
 * Identifiers are reserved in ranges: after a crash the rest of the range is
 * skipped.  A new range is asked for when half of the last one is left, far
 * more than can be given out before the next flush.
 */
#define STORE_ID_RANGE (UINT64_C(1) << 20)

#define STORE_PAGE 4096u /* bytes */
#define STORE_LOG_FILE (16u << 20) /* bytes of one log file */
#define STORE_LOG_BUFFER (4u << 20)
/* Lines in the log until all is well: of a full disk there is one for each page,
 * and the log may lie on it. */
#define STORE_SAID_MAX 8u

/* Of a table's file: slack.c. */
struct table_space {
	int fd; /* ours, beside Berkeley DB's */
	uint64_t covered; /* bytes from its begin that have blocks */
	unsigned int puts; /* since it was last looked at */
};

/* What was flushed of the log, and the file that says so: log_end.c. */
struct log_end {
	pthread_mutex_t lock; /* end, dirty, and what is written to fd */
	int fd;
	uint64_t end; /* log file << 32 | offset in it */
	bool dirty; /* written, and not flushed */
};

struct store {
	const struct log *log;
	bool accept_loss; /* a log that was cut */
	DB_ENV *env;
	DB *db[STORE_TABLES];
	DB_TXN *txn;
	bool changed;
	uint64_t work; /* rows that were touched, ever */
	atomic_bool failed;
	bool closing; /* after a failure: nothing new is said */
	char *home;
	uint64_t id_next, id_end;
	uint64_t hash_key[2];
	struct lock_index *locks; /* lock_index.h */
	struct handle_cipher handles;
	bool handles_keyed;
	struct table_space space[STORE_TABLES];
	bool tight; /* a table could not be given its slack */
	pthread_mutex_t logs_lock; /* logs_made */
	struct log_end log_end;
	uint32_t logs_made; /* the last log file that has its space */
	_Atomic(enum store_room) room;
	uint64_t room_checked; /* clock_now() */
	atomic_bool full; /* the last flush or checkpoint: no space */
	atomic_bool was_full; /* ... at any time */
	struct timing checkpoints; /* that wrote something */
	struct store_counts counts; /* as of late; the store's thread */
	uint64_t cache_again; /* clock_now(): when it is looked at again */
	atomic_uint said; /* lines of Berkeley DB's, since it was well */
};

/* Of what calloc() gave. */
void store_init(struct store *st);
bool store_may_say(struct store *st);
/* Translates what Berkeley DB returned; logs and marks a failure. */
int store_error(struct store *st, int ret, const char *what);

const char *store_table_name(enum store_table table);
/* Is the way to the first and the last row there?  0; -EIO: the store failed. */
int edges_check(struct store *st, enum store_table table);
/* The environment without its tables, which have all that was in the log. */
int env_recover(struct store *st, const struct store_attr *attr);
int env_open(struct store *st, const struct store_attr *attr);
void env_close(struct store *st);
int ids_open(struct store *st);
int ids_reserve(struct store *st);
/* ENOSPC, EDQUOT */
bool store_is_full(int err);

/* ---- locks.c ---- */

/* All rows, into memory; and what ends with a transaction.  -EIO, logged: one is damaged. */
int locks_open(struct store *st);
/* Are all rows whole?  0; -EIO, logged. */
int locks_check(struct store *st);

/* ---- logs.c ---- */

/* Before recovery.  -ENOSPC: not even the first one has room. */
int logs_prepare(struct store *st);
/* After it. */
void logs_begin(struct store *st);
/* Makes those that come next; the store's thread. */
enum store_room logs_room(struct store *st);
/* After a checkpoint; any one thread at a time. */
void logs_tidy(struct store *st);

/* The last log file that was begun; 0: there is none.  0, -errno: they cannot be read. */
int logs_last(const struct store *st, uint32_t *last);

/* ---- log_end.c ---- */

/*
 * Before recovery: can the log be read as far as it was flushed?  0; -EBADMSG, logged:
 * it cannot, or nobody can tell; another -errno, logged: an error that may pass.
 */
int log_end_check(struct store *st);
/* After it: the file is there, if it has to be.  -EIO, logged: it is not; or -errno. */
int log_end_find(struct store *st);
/* The same, and makes it if there is none; before the first flush. */
int log_end_open(struct store *st);
void log_end_close(struct store *st);
/* The store cannot be opened although the loss is accepted. */
void log_end_say_lost(const struct store *st);
/* Any thread: what the flush that follows flushes. */
uint64_t log_end_before_flush(struct store *st);
/* Any thread, before anybody is told of that flush. */
void log_end_flushed(struct store *st, uint64_t end);
/* One thread. */
void log_end_sync(struct store *st);

/* ---- slack.c; the store's thread ---- */

int slack_open(struct store *st);
void slack_close(struct store *st);
/* A row is going to be put. */
void slack_put(struct store *st, enum store_table table);
enum store_room slack_room(struct store *st);
/* Before a transaction with changes is undone, and after. */
void slack_note(struct store *st, uint64_t end[STORE_TABLES]);
void slack_undone(struct store *st, const uint64_t before[STORE_TABLES]);

/* ---- room.c ---- */

/* Bytes that are free on the disk; false: nobody knows. */
bool room_left(const struct store *st, uint64_t *left);
int hash_open(struct store *st);
/* In the transaction that makes the data base. */
int handle_key_make(struct store *st);
int handle_open(struct store *st);

#endif
