/* SPDX-License-Identifier: BSD-2-Clause */
/* log_index.c - see log_index.h. */
#include "mgr/raft/log_index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void log_index_init(struct log_index *ix, uint64_t first)
{
	*ix = (struct log_index){ .first = first };
}

void log_index_free(struct log_index *ix)
{
	free(ix->entries);
	ix->entries = NULL;
}

const struct log_index_entry *log_index_get(const struct log_index *ix,
					    uint64_t index)
{
	if (index < ix->first || index >= log_index_next(ix))
		return NULL;
	return &ix->entries[ix->start + (index - ix->first)];
}

/* Makes room at the end: by moving down if half of the array is free in front. */
static int make_room(struct log_index *ix)
{
	size_t room = ix->room ? 2 * ix->room : 256;
	struct log_index_entry *entries;

	if (ix->start >= ix->room / 2 && ix->start) {
		memmove(ix->entries, ix->entries + ix->start,
			ix->n * sizeof(*ix->entries));
		ix->start = 0;
		return 0;
	}
	entries = reallocarray(ix->entries, room, sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	ix->entries = entries;
	ix->room = room;
	return 0;
}

static uint64_t end_before(const struct log_index *ix, uint64_t index)
{
	const struct log_index_entry *entry = log_index_get(ix, index - 1);

	return entry ? entry->end : ix->base;
}

int log_index_add(struct log_index *ix, uint64_t term, uint16_t type,
		  uint64_t space)
{
	uint64_t end = end_before(ix, log_index_next(ix)) + space;

	if (ix->start + ix->n == ix->room && make_room(ix))
		return -ENOMEM;
	ix->entries[ix->start + ix->n++] = (struct log_index_entry){ term, end,
								     type };
	return 0;
}

uint64_t log_index_space(const struct log_index *ix, uint64_t index)
{
	if (index < ix->first)
		index = ix->first;
	if (index >= log_index_next(ix))
		return 0;
	return end_before(ix, log_index_next(ix)) - end_before(ix, index);
}

uint64_t log_index_find(const struct log_index *ix, uint64_t space)
{
	uint64_t low = ix->first, high = log_index_next(ix);

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (log_index_space(ix, middle) <= space)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

void log_index_truncate(struct log_index *ix, uint64_t index)
{
	while (ix->n && log_index_next(ix) > index)
		ix->n--;
	if (!ix->n)
		ix->first = index;
}

void log_index_cut(struct log_index *ix, uint64_t index)
{
	while (ix->n && ix->first < index) {
		ix->base = ix->entries[ix->start++].end;
		ix->n--;
		ix->first++;
	}
	if (!ix->n) {
		ix->start = 0;
		ix->first = index;
	}
}
