/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * store.h - the metadata store: tables of a Berkeley DB environment with a write-ahead
 * log, recovery at open, and one transaction at a time.
 *
 * Threads.  One thread owns the tables and the transaction.  Any thread may call
 * store_flush(), store_checkpoint() and store_failed(), also while a transaction is
 * open.
 *
 * Durability.  store_commit() makes a transaction atomic and visible.  The transaction
 * is durable once a store_flush() that began after the commit has returned.  The log is
 * flushed in order: if a transaction survives a crash, all earlier transactions survive
 * too.
 *
 * Errors.  -ENOENT, -EEXIST and -ENOSPC concern only the call.  The store logs any
 * other error once, returns -EIO, and from then on store_failed() is true.  The process
 * must then stop; the next start recovers.
 */
#ifndef STORE_H
#define STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/util/log.h"
#include "common/util/timing.h"

struct store;

enum store_table {
	STORE_META, /* name -> value */
	STORE_INODES, /* handle -> inode.h */
	STORE_DIRENTS, /* directory, hash, name -> dent.h */
	STORE_SYMLINKS, /* handle -> target; handle, name -> xattr.h */
	STORE_OPENS, /* session, open id -> opens.h */
	STORE_SESSIONS, /* session -> sessions.h */
	STORE_REPLIES, /* session, slot -> replies.h */
	STORE_INTENTS, /* kind, id -> intents.h */
	STORE_TOMBS, /* seq -> tombs.h */
	STORE_LOCKS, /* handle, session, owner, ... -> locks.h */
	STORE_LOCKERS, /* session, handle -> number of locks */
	STORE_TABLES
};

#define STORE_KEY_MAX 512u /* bytes in a key */
#define STORE_VAL_MAX 8192u /* bytes in a value */

struct store_attr {
	const char *dir; /* exists; the store makes "db" in it */
	uint64_t cache_size; /* bytes of page cache */
	const struct log *log; /* must outlive the store */
	/* opens the store even if acknowledged changes are lost */
	bool accept_loss;
};

/*
 * Opens and recovers the store, or makes an empty one.  -ENOSPC: the disk is too full
 * for recovery; nothing is lost.  -EIO: the store is damaged, or the log ends before
 * the point up to which it was flushed.
 */
int store_open(const struct store_attr *attr, struct store **st);
/*
 * Recovers a store that nobody has open, checks every page of it, and logs what is
 * wrong. 0: nothing is wrong.
 */
int store_check(const struct store_attr *attr);
/* No transaction may be open.  Writes a checkpoint unless the store failed. */
void store_close(struct store *st);
/* Whether the open transaction has written something. */
bool store_changed(const struct store *st);
const struct log *store_log(const struct store *st);
/* Rows that were read, written or passed since the open.  Store's thread only. */
uint64_t store_work(const struct store *st);

int store_begin(struct store *st);
/*
 * Makes the transaction atomic; a later flush makes it durable.  After an error it is
 * undone.
 */
int store_commit(struct store *st);
void store_abort(struct store *st);

int store_flush(struct store *st);
/*
 * Writes changed pages back if at least kbyte KiB of log were written since the last
 * checkpoint.
 */
int store_checkpoint(struct store *st, unsigned int kbyte);
bool store_failed(const struct store *st);
/* Whether something found no space; that may be the cause of a failure. */
bool store_was_full(const struct store *st);
/* How short disk space is, and so which changes are still allowed. */
enum store_room {
	STORE_ROOM, /* all changes */
	STORE_ROOM_LOW, /* changes that free space */
	STORE_ROOM_NONE, /* none that can be avoided */
};
/*
 * Checks the disk from time to time and reserves the space that changes will need.
 * Store's thread only.
 */
enum store_room store_room(struct store *st);
/* Whether the last check found less than STORE_ROOM.  Any thread. */
bool store_short(const struct store *st);

/*
 * Counts of the database since it was opened.  The counts of the cache may be a little
 * old. Store's thread only.  -EIO: the store failed.
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
int store_count(struct store *st, struct store_counts *counts);
/* Durations of the checkpoints that wrote something.  Any thread. */
const struct timing *store_checkpoints(const struct store *st);

/*
 * A number that was never issued before, not even in a lost transaction.  Handles, open
 * ids and intents share these numbers.  Call it inside a transaction.
 */
uint64_t store_id(struct store *st);
/*
 * From now on no number below `from` is issued.  No transaction may be open; durable
 * after a flush.
 */
int store_ids_from(struct store *st, uint64_t from);
/* false: this id was never issued.  true: it may have been issued. */
bool store_id_given(const struct store *st, uint64_t id);
/* Keyed hash of a name: 63 bits, at least 3. */
uint64_t store_hash(const struct store *st, const void *name, size_t len);

/*
 * Rows.  Puts and deletes need an open transaction.  store_get() sets *len (may be
 * NULL) to the length of the value, which must fit in cap.
 */
int store_get(struct store *st, enum store_table table, const void *key,
	      size_t klen, void *val, size_t cap, size_t *len);
int store_put(struct store *st, enum store_table table, const void *key,
	      size_t klen, const void *val, size_t len);
/* -EEXIST: the key exists. */
int store_insert(struct store *st, enum store_table table, const void *key,
		 size_t klen, const void *val, size_t len);
/* -ENOENT: the key does not exist. */
int store_del(struct store *st, enum store_table table, const void *key,
	      size_t klen);

/*
 * Walks a table upwards from the first key that is not below `from`.  The table may
 * change during the walk.  If a transaction is open, close the iterator before it ends.
 * store_iter_next(): 0, or -ENOENT at the end.
 */
struct store_iter {
	struct store *st;
	void *cursor;
	int started;
	uint8_t key[STORE_KEY_MAX];
	size_t klen;
	uint8_t val[STORE_VAL_MAX];
	size_t len;
};
int store_iter_open(struct store *st, enum store_table table, const void *from,
		    size_t flen, struct store_iter *it);
int store_iter_next(struct store_iter *it);
/* Continues the walk at the first key that is not below `from`. */
void store_iter_seek(struct store_iter *it, const void *from, size_t flen);
/*
 * Moves to the last key that is not above `key`; the walk continues upwards after it.
 * 0, -ENOENT.
 */
int store_iter_floor(struct store_iter *it, const void *key, size_t klen);
void store_iter_close(struct store_iter *it);
/* Reads only the first row that is not below `from` into it->key and it->val.  0, -ENOENT. */
int store_first(struct store *st, enum store_table table, const void *from,
		size_t flen, struct store_iter *it);

/* Named values of the store, in STORE_META. */
int meta_get(struct store *st, const char *name, void *val, size_t len);
int meta_put(struct store *st, const char *name, const void *val, size_t len);
int meta_get_u64(struct store *st, const char *name, uint64_t *val);
int meta_put_u64(struct store *st, const char *name, uint64_t val);

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

#endif
