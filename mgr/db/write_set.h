/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * write_set.h - rows as bytes.  A list of rows is a write set, or the old rows of a transaction.
 * An entry of the managers' log is a head and the write sets of successive transactions.
 *
 * 	entry:	head of 32 bytes | row | row | ...
 * 	row:	table, kind, length of key, length of value: 8 bytes | key | value
 *
 * All numbers are little-endian.  The rows of an entry must be applied in order.
 */
#ifndef WRITE_SET_H
#define WRITE_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mgr/db/store.h"

#define ENTRY_HEAD 32u /* bytes of the head of an entry */
/* maximum bytes of rows in an entry */
#define ENTRY_ROWS_MAX (STORE_ENTRY_MAX - ENTRY_HEAD)

/* The memory of key and val belongs to the list or the caller. */
struct row_image {
	enum store_table table;
	bool exists; /* false if there is no such row; len is then 0 */
	const void *key;
	size_t klen; /* 1 .. STORE_KEY_MAX */
	const void *val;
	size_t len; /* at most STORE_VAL_MAX */
};

/* Set it to zero. */
struct row_list {
	uint8_t *bytes;
	size_t len, cap;
	uint32_t rows;
};

/* Copies the row to the end of the list. Returns 0, or -ENOMEM without a change. */
int row_list_add(struct row_list *list, const struct row_image *row);
/* Removes the rows, and keeps the memory. */
static inline void row_list_clear(struct row_list *list)
{
	list->len = 0;
	list->rows = 0;
}
void row_list_free(struct row_list *list);

/*
 * Reads the row at *at, checks each field of it, and moves *at to its end. Returns 1; 0 if *at is
 * end; or -EBADMSG if the bytes are not a row.
 */
int row_next(const uint8_t **at, const uint8_t *end, struct row_image *row);

/* An entry that is being filled.  Set it to zero. */
struct write_entry {
	uint64_t first; /* number of the first change; set by the owner */
	uint32_t changes; /* number of write sets in the entry */
	struct row_list list; /* ENTRY_HEAD bytes, and the rows */
};

/* Returns whether the write set fits into the entry. */
bool write_entry_has_room(const struct write_entry *e,
			  const struct row_list *set);
/* Allocates memory, so that write_entry_add() of this write set succeeds. Returns 0 or -ENOMEM. */
int write_entry_reserve(struct write_entry *e, const struct row_list *set);
/*
 * Appends a write set. The caller has called write_entry_has_room() and write_entry_reserve() for
 * it.
 */
void write_entry_add(struct write_entry *e, const struct row_list *set);
/* Writes the head.  list.bytes is then the complete entry. */
void write_entry_finish(struct write_entry *e);
void write_entry_free(struct write_entry *e);

/* A decoded entry. */
struct write_entry_info {
	/* numbers of the first and the last change in the entry */
	uint64_t first, last;
	const uint8_t *rows, *end; /* begin and end of the rows in the entry */
};

/* Checks the head.  Returns 0 or -EBADMSG. */
int write_entry_read_head(const void *entry, size_t len,
			  struct write_entry_info *info);
/* Checks the head and all rows.  After -EBADMSG, nothing of the entry may be used. */
int write_entry_read(const void *entry, size_t len,
		     struct write_entry_info *info);

#endif
