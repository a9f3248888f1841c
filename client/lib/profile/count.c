/* SPDX-License-Identifier: BSD-2-Clause */
/* count.c - counting calls in the shard of the thread. */
#include <sched.h>

#include "client/lib/profile/profile_int.h"

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

void profile_count(const struct profile_call *call)
{
	struct profile *p = atomic_load(&profile_active);
	uint64_t now = clock_now();
	struct profile_shard *s;

	if (!p)
		return;
	s = shard_acquire(p);
	record_count(&s->record[call->file], call, now);
	shard_release(s);
	if (atomic_load_explicit(&profile_asked, memory_order_relaxed) &&
	    atomic_exchange(&profile_asked, 0))
		profile_write();
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
