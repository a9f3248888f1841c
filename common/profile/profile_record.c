/* SPDX-License-Identifier: BSD-2-Clause */
/* profile_record.c - see profile_record.h. */
#include "common/profile/profile_record.h"

const char *const profile_kind_name[PROFILE_KINDS] = {
	[PROFILE_OPEN] = "open",
	[PROFILE_CLOSE] = "close",
	[PROFILE_READ] = "read",
	[PROFILE_WRITE] = "write",
	[PROFILE_LIST_READ] = "list_read",
	[PROFILE_LIST_WRITE] = "list_write",
	[PROFILE_STAT] = "stat",
	[PROFILE_META] = "meta",
	[PROFILE_DIR] = "dir",
	[PROFILE_LOCK] = "lock",
	[PROFILE_FSYNC] = "fsync",
	[PROFILE_AIO] = "aio",
	[PROFILE_WAIT] = "aio_wait",
};

unsigned int profile_size(uint64_t size)
{
	static const uint64_t most[PROFILE_SIZES - 1] = {
		100,	  1u << 10,  10u << 10,	 100u << 10, 1u << 20,
		4u << 20, 10u << 20, 100u << 20, 1u << 30
	};
	unsigned int i = 0;

	while (i < PROFILE_SIZES - 1 && size > most[i])
		i++;
	return i;
}

/* ---- common values ---- */

void profile_common_add(struct profile_common c[PROFILE_COMMON], int64_t value,
			uint64_t times)
{
	struct profile_common mine;
	unsigned int i = 0;

	while (i < PROFILE_COMMON - 1 && c[i].count && c[i].value != value)
		i++;
	mine = (struct profile_common){ value, c[i].count + times };
	for (; i && c[i - 1].count < mine.count; i--)
		c[i] = c[i - 1];
	c[i] = mine;
}

/* ---- sums ---- */

static void add_common(struct profile_common to[PROFILE_COMMON],
		       const struct profile_common from[PROFILE_COMMON])
{
	unsigned int i;

	for (i = 0; i < PROFILE_COMMON; i++) {
		if (from[i].count)
			profile_common_add(to, from[i].value, from[i].count);
	}
}

static void add_way(struct profile_way *w, const struct profile_way *other)
{
	unsigned int i;

	w->bytes += other->bytes;
	for (i = 0; i < PROFILE_SIZES; i++)
		w->sizes[i] += other->sizes[i];
	w->sequential += other->sequential;
	w->consecutive += other->consecutive;
	w->strided += other->strided;
	w->unaligned += other->unaligned;
	w->large += other->large;
	w->large_unaligned += other->large_unaligned;
	add_common(w->size, other->size);
	add_common(w->stride, other->stride);
}

void profile_record_add(struct profile_record *r,
			const struct profile_record *other)
{
	unsigned int i;

	for (i = 0; i < PROFILE_KINDS; i++) {
		r->calls[i] += other->calls[i];
		r->ns[i] += other->ns[i];
	}
	r->errors += other->errors;
	r->pieces += other->pieces;
	add_way(&r->way[0], &other->way[0]);
	add_way(&r->way[1], &other->way[1]);
	if (other->slowest_ns > r->slowest_ns) {
		r->slowest_ns = other->slowest_ns;
		r->slowest = other->slowest;
	}
	if (other->last && (!r->last || other->first < r->first))
		r->first = other->first;
	if (other->last > r->last)
		r->last = other->last;
}
