/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * counter_lent.c - counters that clients change by RDMA atomics.
 *
 * The word lies in memory of its own, registered for this counter alone.  Only the
 * device changes it; the page says that it is lent, so that another process goes on from
 * the ceiling.  What a client got counts when it is below a ceiling that it was told:
 * that one is on the disk.
 */
#include <errno.h>
#include <stdlib.h>

#include "common/util/clock.h"
#include "server/counter/counter_int.h"

#define SHY_MS 500u /* after it was taken back, and twice as long each time */
#define SHY_DOUBLES 7u
#define FAR (INT64_C(1) << 61) /* no crowd of steps wraps from there */

int64_t lent_value(const struct counter_file *f, unsigned int number)
{
	return (int64_t)__atomic_load_n(f->lent[number].word, __ATOMIC_ACQUIRE);
}

/* What a reader sees counts for good. */
int lent_read(const struct counters *counters, struct counter_file *f,
	      unsigned int number, bool quick, int64_t *out)
{
	int64_t value = lent_value(f, number);
	int rc = 0;

	if (value > f->map.page->slot[number].ceiling) {
		if (quick)
			return -EAGAIN;
		rc = counter_raise(counters, f, number,
				   counter_above(value, 1));
	}
	if (!rc)
		*out = value;
	return rc;
}

static void mark(struct counter_file *f, unsigned int number, bool lent)
{
	uint64_t bit = UINT64_C(1) << number, before = f->map.page->lent;

	/* this process may end between any two stores */
	__atomic_store_n(&f->map.page->lent,
			 lent ? before | bit : before & ~bit, __ATOMIC_RELEASE);
}

static void give_up(struct counter_lent *lent)
{
	free(lent->word);
	lent->word = NULL;
	lent->mr = NULL;
}

void lent_take_back(struct counter_file *f, unsigned int number)
{
	struct counter_lent *lent = &f->lent[number];
	unsigned int doubles = lent->taken < SHY_DOUBLES ? lent->taken
							 : SHY_DOUBLES;

	tp_mr_dereg(lent->mr);
	f->map.page->slot[number].value = lent_value(f, number);
	mark(f, number, false);
	give_up(lent);
	lent->taken++;
	lent->again = clock_after_ms(SHY_MS << doubles);
}

void lent_take_all(struct counter_file *f)
{
	unsigned int i;

	for (i = 0; i < WIRE_COUNTERS; i++)
		if (lent_is(f, i))
			lent_take_back(f, i);
}

static int register_word(struct counter_lent *lent, struct tp_dev *dev)
{
	return tp_mr_reg(dev, lent->word, sizeof(*lent->word),
			 TP_REMOTE_ATOMIC | TP_LENT, &lent->mr);
}

static bool may_lend(const struct counter_lent *lent, int64_t value)
{
	return value > -FAR && value < FAR && clock_now() >= lent->again;
}

/* The page says so, on the disk, before there is a word that it does not have. */
static int lend(const struct counters *counters, struct counter_file *f,
		const struct counter_wish *wish)
{
	struct counter_lent *lent = &f->lent[wish->number];
	int64_t value = f->map.page->slot[wish->number].value;
	int rc;

	if (!may_lend(lent, value))
		return -EAGAIN;
	rc = counter_raise(counters, f, wish->number,
			   counter_above(value, wish->step));
	if (rc)
		return rc;
	lent->word = aligned_alloc(64, 64);
	if (!lent->word)
		return -ENOMEM;
	*lent->word = (uint64_t)value;
	mark(f, wish->number, true);
	rc = register_word(lent, wish->dev);
	if (!rc)
		return 0;
	mark(f, wish->number, false);
	give_up(lent);
	lent->again = clock_after_ms(SHY_MS << SHY_DOUBLES);
	return -EAGAIN;
}

static int64_t value_of(const struct counter_file *f, unsigned int number)
{
	return lent_is(f, number) ? lent_value(f, number)
				  : f->map.page->slot[number].value;
}

/* Where it was set to less meanwhile, what was given before stands by itself. */
static int raise_for(const struct counters *counters, struct counter_file *f,
		     const struct counter_wish *wish)
{
	int64_t value = value_of(f, wish->number);

	if (wish->upto > value ||
	    wish->upto <= f->map.page->slot[wish->number].ceiling)
		return 0;
	return counter_raise(counters, f, wish->number,
			     counter_above(value, wish->step));
}

static void tell(const struct counter_file *f, const struct counter_wish *wish,
		 struct counter_place *place)
{
	const struct counter_lent *lent = &f->lent[wish->number];
	bool here = lent->word && lent->mr->dev == wish->dev;

	*place = (struct counter_place){
		.addr = here ? (uintptr_t)lent->word : 0,
		.rkey = here ? lent->mr->rkey : 0,
		.ceiling = f->map.page->slot[wish->number].ceiling,
	};
}

int lent_place(const struct counters *counters, struct counter_file *f,
	       const struct counter_wish *wish, struct counter_place *place)
{
	int rc = wish->raise ? raise_for(counters, f, wish) : 0;

	if (rc)
		return rc;
	if (lent_is(f, wish->number) && lent_value(f, wish->number) >= FAR)
		lent_take_back(f, wish->number);
	if (!lent_is(f, wish->number))
		rc = lend(counters, f, wish);
	if (rc && !wish->raise)
		return rc;
	tell(f, wish, place);
	return place->addr || wish->raise ? 0 : -EAGAIN;
}
