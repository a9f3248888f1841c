/* SPDX-License-Identifier: BSD-2-Clause */
/* profile_shard.c - the counts of a file, and counting in the shard of the thread. */
#include <sched.h>

#include "client/lib/profile/profile_int.h"

/* ---- one access ---- */

static void way_count_step(struct profile_way *w, struct record_last *last,
			   uint64_t off)
{
	int64_t distance = (int64_t)(off - last->off);

	w->sequential += off >= last->end;
	if (off == last->end) {
		w->consecutive++;
		last->strode = false;
		return;
	}
	w->strided += last->strode && distance == last->distance;
	last->strode = true;
	last->distance = distance;
	profile_common_add(w->stride, distance, 1);
}

static void way_count_alignment(struct profile_way *w, uint64_t off, uint64_t n,
				uint32_t ssize)
{
	bool unaligned = off % ssize, large = n >= ssize;

	w->unaligned += unaligned;
	w->large += large;
	w->large_unaligned += unaligned && large;
}

static void access_one(struct profile_way *w, struct record_last *last,
		       const struct profile_call *call)
{
	uint64_t n = (uint64_t)call->result;

	w->bytes += n;
	w->sizes[profile_size(n)]++;
	profile_common_add(w->size, (int64_t)n, 1);
	if (last->moved)
		way_count_step(w, last, call->off);
	last->moved = true;
	last->off = call->off;
	last->end = call->off + n;
	if (call->ssize)
		way_count_alignment(w, call->off, n, call->ssize);
}

static int way_of(enum profile_kind kind)
{
	switch (kind) {
	case PROFILE_READ:
	case PROFILE_LIST_READ:
		return PROFILE_READS;
	case PROFILE_WRITE:
	case PROFILE_LIST_WRITE:
		return PROFILE_WRITES;
	default:
		return -1;
	}
}

static void record_transfer(struct profile_counts *record,
			    const struct profile_call *call, uint64_t now,
			    int way)
{
	struct profile_record *r = &record->sum;

	if (!r->first || call->begun < r->first)
		r->first = call->begun;
	if (now > r->last)
		r->last = now;
	if (call->kind == PROFILE_LIST_READ || call->kind == PROFILE_LIST_WRITE)
		r->pieces += call->pieces;
	if (call->result >= 0)
		access_one(&r->way[way], &record->last[way], call);
}

void record_count(struct profile_counts *record,
		  const struct profile_call *call, uint64_t now)
{
	uint64_t ns = now > call->begun ? now - call->begun : 0;
	struct profile_record *r = &record->sum;
	int way = way_of(call->kind);

	r->calls[call->kind]++;
	r->errors += call->result < 0;
	if (way >= 0)
		record_transfer(record, call, now, way);
	if (call->aside && call->kind != PROFILE_AIO)
		return;
	r->ns[call->kind] += ns;
	if (ns > r->slowest_ns && call->kind < PROFILE_AIO) {
		r->slowest_ns = ns;
		r->slowest = call->kind;
	}
}

#define ROUNDS 1000u

/* starts at 1; 0: the thread has none yet */
static __thread unsigned int mine;

static struct profile_shard *shard_acquire(struct profile *p)
{
	struct profile_shard *s;
	unsigned int i;

	if (!mine)
		mine = 1 + atomic_fetch_add(&p->threads, 1);
	for (i = mine;; i++) {
		s = &p->shard[i % PROFILE_SHARDS];
		if (!atomic_exchange_explicit(&s->taken, true,
					      memory_order_acquire))
			return s;
		if (i - mine >= PROFILE_SHARDS)
			sched_yield();
	}
}

static void shard_release(struct profile_shard *s)
{
	atomic_store_explicit(&s->taken, false, memory_order_release);
}

void profile_shard_count(struct profile *p, const struct profile_call *call,
			 uint64_t now)
{
	struct profile_shard *s = shard_acquire(p);

	record_count(&s->record[call->file], call, now);
	shard_release(s);
}

/*
 * The rounds are bounded, because a thread that was ended while counting holds its shard
 * forever.
 */
static bool shard_try_acquire(struct profile_shard *s)
{
	unsigned int i;

	for (i = 0; i < ROUNDS; i++) {
		if (!atomic_exchange_explicit(&s->taken, true,
					      memory_order_acquire))
			return true;
		sched_yield();
	}
	return false;
}

void profile_sum(struct profile *p, unsigned int place,
		 struct profile_record *sum)
{
	unsigned int i;

	*sum = (struct profile_record){ 0 };
	for (i = 0; i < PROFILE_SHARDS; i++) {
		struct profile_shard *s = &p->shard[i];
		bool ours = shard_try_acquire(s);

		profile_record_add(sum, &s->record[place].sum);
		if (ours)
			shard_release(s);
	}
}
