/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * store.h - the metadata store: tables of a Berkeley DB environment with
 * write-ahead log, recovery at open and one transaction at a time.
 *
 * Threads.  One thread owns the tables and the transaction.  store_flush(),
 * store_checkpoint() and store_failed() may be called from any thread, also
 * while a transaction is open.
 *
 * Durability.  store_commit() makes a transaction atomic and visible;
 * it is durable once a store_flush() that began afterwards has returned.
 * A log is flushed in order: if a transaction survives a crash, so did every
 * one before it.
 *
 * Errors.  -ENOENT, -EEXIST and -ENOSPC concern the call alone.  Any other is logged
 * once here, answered as -EIO, and store_failed() is true from then on: stop
 * the process, the next start recovers.
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
	const char *dir; /* exists; "db" is made below it */
	uint64_t cache_size; /* bytes of page cache */
	const struct log *log; /* outlives the store */
	bool accept_loss; /* opens it also if acknowledged changes are gone */
};

/*
 * Opens and recovers, or makes an empty store.  -ENOSPC: its disk is too full for
 * that; nothing is lost.  -EIO: it is damaged, or its log does not reach as far as was
 * flushed.
 */
int store_open(const struct store_attr *attr, struct store **st);
/*
 * Looks at every page of a store that nobody has open, and logs what is wrong.
 * 0: nothing.  Recovers it first, as an open does.
 */
int store_check(const struct store_attr *attr);
/* No transaction is open.  Writes a checkpoint unless the store failed. */
void store_close(struct store *st);
/* The open transaction has written something. */
bool store_changed(const struct store *st);
const struct log *store_log(const struct store *st);
/* Rows that were read, written or passed since it was opened; the store's thread. */
uint64_t store_work(const struct store *st);

int store_begin(struct store *st);
/* Atomic from here on; durable after a flush.  On error it is undone. */
int store_commit(struct store *st);
void store_abort(struct store *st);

int store_flush(struct store *st);
/* Writes changed pages back if at least kbyte of log were written since. */
int store_checkpoint(struct store *st, unsigned int kbyte);
bool store_failed(const struct store *st);
/* There was no space for something, and that may be why it failed. */
bool store_was_full(const struct store *st);
/* How short disk space is: what may still be changed. */
enum store_room {
	STORE_ROOM, /* everything */
	STORE_ROOM_LOW, /* what makes room */
	STORE_ROOM_NONE, /* nothing, if it can be helped */
};
/* Looks at times, and takes what will be needed; the store's thread. */
enum store_room store_room(struct store *st);
/* Any thread: not STORE_ROOM, when it was last looked at. */
bool store_short(const struct store *st);

/*
 * What the data base has counted since it was opened; of its cache as of not long ago.
 * The store's thread; -EIO.
 */
struct store_counts {
	uint64_t cache_bytes, pages, dirty; /* dirty: not yet written */
	uint64_t hits, misses; /* pages that were in the cache, or not */
	uint64_t written, evicted; /* pages */
	uint64_t commits, aborts;
	uint64_t log_bytes, log_since; /* since: the last checkpoint */
	uint64_t log_flushes;
};
int store_count(struct store *st, struct store_counts *counts);
/* How long checkpoints took that wrote something; any thread. */
const struct timing *store_checkpoints(const struct store *st);

/*
 * A number that was never given before, not even in a lost transaction: for
 * handles, open ids and intents alike.  Inside a transaction.
 */
uint64_t store_id(struct store *st);
/* None below `from` is given any more.  No transaction is open; durable after a flush. */
int store_ids_from(struct store *st, uint64_t from);
/* It may have been given; false: it never was. */
bool store_id_given(const struct store *st, uint64_t id);
/* Keyed hash of a name, 63 bits, never below 3. */
uint64_t store_hash(const struct store *st, const void *name, size_t len);

/*
 * Rows.  Puts and deletes need an open transaction.  store_get(): *len (may be
 * NULL) is the value's length, which must fit in cap.
 */
int store_get(struct store *st, enum store_table table, const void *key,
	      size_t klen, void *val, size_t cap, size_t *len);
int store_put(struct store *st, enum store_table table, const void *key,
	      size_t klen, const void *val, size_t len);
/* -EEXIST if the key is there. */
int store_insert(struct store *st, enum store_table table, const void *key,
		 size_t klen, const void *val, size_t len);
/* -ENOENT if it is not. */
int store_del(struct store *st, enum store_table table, const void *key,
	      size_t klen);

/*
 * Walks a table upwards from the first key not below `from`.  The table may
 * be changed meanwhile; ends before the transaction does, if there is one.
 * store_iter_next(): 0, -ENOENT at the end.
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
/* From here on: upwards from the first key not below `from`. */
void store_iter_seek(struct store_iter *it, const void *from, size_t flen);
/* To the last key not above `key`, and upwards behind it: 0, -ENOENT. */
int store_iter_floor(struct store_iter *it, const void *key, size_t klen);
void store_iter_close(struct store_iter *it);
/* The first row not below `from` alone, in it->key and it->val: 0, -ENOENT. */
int store_first(struct store *st, enum store_table table, const void *from,
		size_t flen, struct store_iter *it);

/* Named values of the store itself. */
int meta_get(struct store *st, const char *name, void *val, size_t len);
int meta_put(struct store *st, const char *name, const void *val, size_t len);
int meta_get_u64(struct store *st, const char *name, uint64_t *val);
int meta_put_u64(struct store *st, const char *name, uint64_t val);

/* Keys sort as numbers: big-endian. */
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
