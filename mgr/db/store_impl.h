/* SPDX-License-Identifier: BSD-2-Clause */
/* store_impl.h - what the files of the store share. */
#ifndef STORE_IMPL_H
#define STORE_IMPL_H

#include <db.h>
#include <stdatomic.h>

#include "store.h"

/*
 * Identifiers are reserved in ranges: after a crash the rest of the range is
 * skipped.  A new range is asked for when half of the last one is left, far
 * more than can be given out before the next flush.
 */
#define STORE_ID_RANGE (UINT64_C(1) << 20)

#define STORE_PAGE 4096u /* bytes */
#define STORE_LOG_FILE (16u << 20) /* bytes of one log file */
#define STORE_LOG_BUFFER (4u << 20)

struct store {
	const struct log *log;
	DB_ENV *env;
	DB *db[STORE_TABLES];
	DB_TXN *txn;
	bool changed;
	atomic_bool failed;
	bool closing; /* after a failure: nothing new is said */
	char *home;
	uint64_t id_next, id_end;
	uint64_t hash_key[2];
	char *reserve; /* the file */
	_Atomic(enum store_room) room;
	uint64_t room_checked; /* clock_now() */
};

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
/* A recovery may need the space; then it is kept back again. */
int reserve_release(struct store *st);
void reserve_make(struct store *st);
int hash_open(struct store *st);

#endif
