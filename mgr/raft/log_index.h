/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * log_index.h - term, type and size of each entry of the log, including submitted entries that are
 * not yet written.  Incoming messages are checked against it.
 */
#ifndef LOG_INDEX_H
#define LOG_INDEX_H

#include <stddef.h>
#include <stdint.h>

struct log_index_entry {
	uint64_t term;
	uint64_t end; /* private: space of all entries up to this one */
	uint16_t type;
};

struct log_index {
	uint64_t first; /* index of the first entry; without entries, of the next one */
	struct log_index_entry *entries; /* private, with start and room */
	size_t start, n, room;
	uint64_t base; /* space of all entries before the first */
};

void log_index_init(struct log_index *ix, uint64_t first);
void log_index_free(struct log_index *ix);

static inline uint64_t log_index_next(const struct log_index *ix)
{
	return ix->first + ix->n;
}
/* NULL: there is no such entry. */
const struct log_index_entry *log_index_get(const struct log_index *ix,
					    uint64_t index);
/* Adds the next entry, which takes `space` bytes.  -ENOMEM. */
int log_index_add(struct log_index *ix, uint64_t term, uint16_t type,
		  uint64_t space);
/* Bytes of the entries from index on. */
uint64_t log_index_space(const struct log_index *ix, uint64_t index);
/* The lowest index such that the entries from it on take at most `space` bytes. */
uint64_t log_index_find(const struct log_index *ix, uint64_t space);
/* Removes the entries from index on. */
void log_index_truncate(struct log_index *ix, uint64_t index);
/* Removes the entries below index, which is at most the next one. */
void log_index_cut(struct log_index *ix, uint64_t index);

#endif
