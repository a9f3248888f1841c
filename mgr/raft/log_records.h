/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * log_records.h - the records of a member's log, and the entries and the snapshot that result from
 * them.
 */
#ifndef LOG_RECORDS_H
#define LOG_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOG_ENTRY_MAX (4u << 20) /* bytes of data in a record */

enum log_record_kind {
	LOG_ENTRY = 1, /* index, term, type, data */
	LOG_TRUNCATE, /* the entries from index on are gone */
	/* index, term: the state up to here is stored elsewhere; data: the caller's */
	LOG_SNAPSHOT,
	/* the same, and no entry is left; the next one is index + 1 */
	LOG_RESET,
};

struct log_record {
	enum log_record_kind kind;
	uint16_t type; /* of an entry: the caller's */
	uint64_t index, term;
	const void *data; /* len bytes */
	uint32_t len;
};

/* An entry in memory.  data: malloc(). */
struct log_entry {
	uint64_t term;
	void *data;
	uint32_t len;
	uint16_t type;
};

/* The entries and the snapshot that result from the records of a log. */
struct log_contents {
	uint64_t first; /* index of entries[0] */
	struct log_entry *entries;
	size_t n, room;
	struct {
		uint64_t index, term; /* index 0: there is none */
		void *data; /* malloc() */
		uint32_t len;
	} snapshot;
};

/* Applies the next record.  -EINVAL: it cannot follow the records before it.  -ENOMEM. */
int log_contents_add(struct log_contents *contents,
		     const struct log_record *record);
static inline uint64_t log_contents_next(const struct log_contents *contents)
{
	return contents->first + contents->n;
}
/* Whether entries are missing between the snapshot and the first one. */
bool log_contents_have_gap(const struct log_contents *contents);
void log_contents_free(struct log_contents *contents);

/* ---- records as bytes ---- */

#define LOG_RECORD_HEAD 32u

/* Bytes of the record; a multiple of 8. */
static inline size_t log_record_size(uint32_t len)
{
	return LOG_RECORD_HEAD + ((size_t)len + 7) / 8 * 8;
}
/* Writes log_record_size() bytes. */
void log_record_encode(const struct log_record *record, void *out);
/*
 * Reads the record at the start of len bytes; record->data points into them.  Returns the bytes
 * that the record takes, or -EINVAL.
 */
int64_t log_record_decode(const void *bytes, size_t len,
			  struct log_record *record);

#endif
