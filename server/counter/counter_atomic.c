/* SPDX-License-Identifier: BSD-2-Clause */
/* counter_atomic.c - the counters of one file that clients change by RDMA atomics. */
#include <errno.h>
#include <stdlib.h>

#include "common/util/clock.h"
#include "server/counter/counter_atomic.h"

#define PAUSE_MS 500u /* without a loan after a revocation; doubles each time */
#define PAUSE_DOUBLES 7u
#define VALUE_MAX                                                              \
	(INT64_C(1) << 61) /* concurrent steps cannot wrap from here */

static int64_t load_value(const struct counter_atomics *atomics,
			  unsigned int number)
{
	return (int64_t)__atomic_load_n(atomics->slot[number].word,
					__ATOMIC_ACQUIRE);
}

/* A value that a reader has seen must stay valid after a crash. */
int counter_atomic_read(const struct counter_atomics *atomics,
			struct counter_map *map, unsigned int number,
			bool quick, int64_t *out)
{
	int64_t value = load_value(atomics, number);
	int rc = 0;

	if (value > map->page->slot[number].ceiling) {
		if (quick)
			return -EAGAIN;
		rc = counter_page_set_ceiling(map, number,
					      counter_page_ceiling(value, 1));
	}
	if (!rc)
		*out = value;
	return rc;
}

static void set_lent_bit(struct counter_map *map, unsigned int number,
			 bool lent)
{
	uint64_t bit = UINT64_C(1) << number, before = map->page->lent;

	/* this process can crash between any two stores */
	__atomic_store_n(&map->page->lent, lent ? before | bit : before & ~bit,
			 __ATOMIC_RELEASE);
}

static void free_word(struct counter_atomic *atomic)
{
	free(atomic->word);
	atomic->word = NULL;
	atomic->mr = NULL;
}

void counter_atomic_revoke(struct counter_atomics *atomics,
			   struct counter_map *map, unsigned int number)
{
	struct counter_atomic *atomic = &atomics->slot[number];
	unsigned int doubles = atomic->revocations < PAUSE_DOUBLES
				       ? atomic->revocations
				       : PAUSE_DOUBLES;

	tp_mr_dereg(atomic->mr);
	map->page->slot[number].value = load_value(atomics, number);
	set_lent_bit(map, number, false);
	free_word(atomic);
	atomic->revocations++;
	atomic->retry_at = clock_after_ms(PAUSE_MS << doubles);
}

void counter_atomic_revoke_all(struct counter_atomics *atomics,
			       struct counter_map *map)
{
	unsigned int i;

	for (i = 0; i < WIRE_COUNTERS; i++)
		if (counter_atomic_is_lent(atomics, i))
			counter_atomic_revoke(atomics, map, i);
}

/* ---- lending ---- */

static int register_word(struct counter_atomic *atomic, struct tp_dev *dev)
{
	return tp_mr_reg(dev, atomic->word, sizeof(*atomic->word),
			 TP_REMOTE_ATOMIC | TP_LENT, &atomic->mr);
}

static bool may_lend(const struct counter_atomic *atomic, int64_t value)
{
	return value > -VALUE_MAX && value < VALUE_MAX &&
	       clock_now() >= atomic->retry_at;
}

/* The ceiling is on the disk, and the page says "lent", before the device can change the word. */
static int lend_word(struct counter_atomics *atomics, struct counter_map *map,
		     const struct counter_loan_request *request)
{
	struct counter_atomic *atomic = &atomics->slot[request->number];
	int64_t value = map->page->slot[request->number].value;
	int rc;

	if (!may_lend(atomic, value))
		return -EAGAIN;
	rc = counter_page_set_ceiling(map, request->number,
				      counter_page_ceiling(value,
							   request->step));
	if (rc)
		return rc;
	atomic->word = aligned_alloc(64, 64);
	if (!atomic->word)
		return -ENOMEM;
	*atomic->word = (uint64_t)value;
	set_lent_bit(map, request->number, true);
	rc = register_word(atomic, request->dev);
	if (!rc)
		return 0;
	set_lent_bit(map, request->number, false);
	free_word(atomic);
	atomic->retry_at = clock_after_ms(PAUSE_MS << PAUSE_DOUBLES);
	return -EAGAIN;
}

/* If the counter was set to a lower value meanwhile, the values given out before stay valid. */
static int raise_ceiling(struct counter_atomics *atomics,
			 struct counter_map *map,
			 const struct counter_loan_request *request)
{
	unsigned int n = request->number;
	int64_t value = counter_atomic_is_lent(atomics, n)
				? load_value(atomics, n)
				: map->page->slot[n].value;

	if (request->upto > value ||
	    request->upto <= map->page->slot[n].ceiling)
		return 0;
	return counter_page_set_ceiling(
		map, n, counter_page_ceiling(value, request->step));
}

/* If the counter is lent to another device, this one gets only the ceiling. */
static void describe_loan(const struct counter_atomics *atomics,
			  const struct counter_map *map,
			  const struct counter_loan_request *request,
			  struct counter_loan *loan)
{
	const struct counter_atomic *atomic = &atomics->slot[request->number];
	bool lent = atomic->word && atomic->mr->dev == request->dev;

	*loan = (struct counter_loan){
		.addr = lent ? (uintptr_t)atomic->word : 0,
		.rkey = lent ? atomic->mr->rkey : 0,
		.ceiling = map->page->slot[request->number].ceiling,
	};
}

int counter_atomic_lend(struct counter_atomics *atomics,
			struct counter_map *map,
			const struct counter_loan_request *request,
			struct counter_loan *loan)
{
	unsigned int n = request->number;
	int rc = request->raise ? raise_ceiling(atomics, map, request) : 0;

	if (rc)
		return rc;
	if (counter_atomic_is_lent(atomics, n) &&
	    load_value(atomics, n) >= VALUE_MAX)
		counter_atomic_revoke(atomics, map, n);
	if (!counter_atomic_is_lent(atomics, n))
		rc = lend_word(atomics, map, request);
	if (rc && !request->raise)
		return rc;
	describe_loan(atomics, map, request, loan);
	return loan->addr || request->raise ? 0 : -EAGAIN;
}
