/* SPDX-License-Identifier: BSD-2-Clause */
/* record.c - see record_int.h. */
#include "record_int.h"

unsigned int record_bucket(uint64_t size)
{
	static const uint64_t most[RECORD_SIZES - 1] = {
		100,	  1u << 10,  10u << 10,	 100u << 10, 1u << 20,
		4u << 20, 10u << 20, 100u << 20, 1u << 30
	};
	unsigned int i = 0;

	while (i < RECORD_SIZES - 1 && size > most[i])
		i++;
	return i;
}

/* ---- common values ---- */

static struct record_common *rarest(struct record_common c[RECORD_COMMON])
{
	struct record_common *least = c;
	unsigned int i;

	for (i = 1; i < RECORD_COMMON; i++) {
		if (c[i].count < least->count)
			least = &c[i];
	}
	return least;
}

static void common_add(struct record_common c[RECORD_COMMON], int64_t value,
		       uint64_t times)
{
	struct record_common *place;
	unsigned int i;

	for (i = 0; i < RECORD_COMMON && c[i].count; i++) {
		if (c[i].value == value) {
			c[i].count += times;
			return;
		}
	}
	place = i < RECORD_COMMON ? &c[i] : rarest(c);
	place->value = value;
	place->count += times;
}

void record_common_top(const struct record_common all[RECORD_COMMON],
		       struct record_common top[RECORD_SHOWN])
{
	unsigned int i, at;

	for (i = 0; i < RECORD_SHOWN; i++)
		top[i] = (struct record_common){ 0 };
	for (i = 0; i < RECORD_COMMON; i++) {
		for (at = RECORD_SHOWN; at && top[at - 1].count < all[i].count;
		     at--) {
			if (at < RECORD_SHOWN)
				top[at] = top[at - 1];
		}
		if (at < RECORD_SHOWN)
			top[at] = all[i];
	}
}

/* ---- one access ---- */

static void step(struct record_way *w, uint64_t off)
{
	int64_t distance = (int64_t)(off - w->off);

	w->sequential += off >= w->end;
	if (off == w->end) {
		w->consecutive++;
		w->strode = false;
		return;
	}
	w->strided += w->strode && distance == w->distance;
	w->strode = true;
	w->distance = distance;
	common_add(w->stride, distance, 1);
}

static void align(struct record_way *w, uint64_t off, uint64_t n,
		  uint32_t ssize)
{
	bool unaligned = off % ssize, large = n >= ssize;

	w->unaligned += unaligned;
	w->large += large;
	w->large_unaligned += unaligned && large;
}

static void access_one(struct record_way *w, const struct profile_call *call)
{
	uint64_t n = (uint64_t)call->result;

	w->bytes += n;
	w->sizes[record_bucket(n)]++;
	common_add(w->size, (int64_t)n, 1);
	if (w->moved)
		step(w, call->off);
	w->moved = true;
	w->off = call->off;
	w->end = call->off + n;
	if (call->ssize)
		align(w, call->off, n, call->ssize);
}

static int way_of(enum profile_kind kind)
{
	switch (kind) {
	case PROFILE_READ:
	case PROFILE_LIST_READ:
		return 0;
	case PROFILE_WRITE:
	case PROFILE_LIST_WRITE:
		return 1;
	default:
		return -1;
	}
}

static void moved(struct record *r, const struct profile_call *call,
		  uint64_t now, int way)
{
	if (!r->first || call->begun < r->first)
		r->first = call->begun;
	if (now > r->last)
		r->last = now;
	if (call->kind == PROFILE_LIST_READ || call->kind == PROFILE_LIST_WRITE)
		r->pieces += call->pieces;
	if (call->result >= 0)
		access_one(&r->way[way], call);
}

void record_count(struct record *r, const struct profile_call *call,
		  uint64_t now)
{
	uint64_t ns = now > call->begun ? now - call->begun : 0;
	int way = way_of(call->kind);

	r->calls[call->kind]++;
	r->errors += call->result < 0;
	if (way >= 0)
		moved(r, call, now, way);
	if (call->aside && call->kind != PROFILE_AIO)
		return;
	r->ns[call->kind] += ns;
	if (ns > r->slowest_ns && call->kind < PROFILE_AIO) {
		r->slowest_ns = ns;
		r->slowest = call->kind;
	}
}

/* ---- sums ---- */

static void add_common(struct record_common to[RECORD_COMMON],
		       const struct record_common from[RECORD_COMMON])
{
	unsigned int i;

	for (i = 0; i < RECORD_COMMON; i++) {
		if (from[i].count)
			common_add(to, from[i].value, from[i].count);
	}
}

static void add_way(struct record_way *w, const struct record_way *other)
{
	unsigned int i;

	w->bytes += other->bytes;
	for (i = 0; i < RECORD_SIZES; i++)
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

void record_add(struct record *r, const struct record *other)
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
	if (other->first && (!r->first || other->first < r->first))
		r->first = other->first;
	if (other->last > r->last)
		r->last = other->last;
}
