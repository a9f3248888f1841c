/* SPDX-License-Identifier: BSD-2-Clause */
/* promises.c - see promises.h. */
#include "server/copyset/promises.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The promises of another member to this iod. */
struct promise_got {
	uint64_t until; /* on this iod's clock; 0: nothing */
	uint64_t lent_until; /* of those with LENT */
};

/* The promises of this iod to another one. */
struct promise_given {
	uint32_t iod;
	uint32_t version; /* of this iod's row at that time */
	uint64_t process;
	uint64_t until; /* on this iod's clock */
	uint64_t lent_until; /* stays in force if the process ends */
};

struct promises_copyset {
	struct copyset row;
	uint32_t since; /* this iod has been primary from this version on */
	bool lent;
	struct promise_got got[COPYSET_COPIES_MAX]; /* of row.member[i] */
	/*
	 * A slot for each iod, because the one that agreed to a newer row has stopped, and the others
	 * may not.  If all are in use, this iod promises nothing to one more until a slot expires.
	 */
	struct promise_given given[COPYSET_COPIES_MAX];
};

struct promises {
	struct promises_attr attr;
	uint64_t start;
	uint32_t n;
	struct promises_copyset set[]; /* in the order of their ids */
};

int promises_open(const struct promises_attr *attr, uint64_t now,
		  struct promises **promises)
{
	struct promises *new;

	if (!attr->copysets_max || attr->copysets_max > PROMISES_COPYSETS_MAX)
		return -EINVAL;
	new = calloc(1, sizeof(*new) + attr->copysets_max * sizeof(*new->set));
	if (!new)
		return -ENOMEM;
	new->attr = *attr;
	new->start = now;
	*promises = new;
	return 0;
}

void promises_close(struct promises *promises)
{
	free(promises);
}

/* The place of the first copyset whose id is not lower. */
static uint32_t find_place(const struct promises *promises, uint32_t copyset)
{
	uint32_t lo = 0, hi = promises->n;

	while (lo < hi) {
		uint32_t mid = (lo + hi) / 2;

		if (promises->set[mid].row.id < copyset)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* NULL: there is none. */
static struct promises_copyset *find_copyset(const struct promises *promises,
					     uint32_t copyset)
{
	uint32_t place = find_place(promises, copyset);
	const struct promises_copyset *set = &promises->set[place];

	return place < promises->n && set->row.id == copyset
		       ? (struct promises_copyset *)set
		       : NULL;
}

static bool is_primary(const struct copyset *row, uint32_t iod)
{
	for (uint32_t i = 0; i < row->n; i++)
		if (row->member[i].state == COPYSET_SERVING)
			return row->member[i].iod == iod;
	return false;
}

/* Returns row->n if the iod is no member. */
static uint32_t find_member(const struct copyset *row, uint32_t iod)
{
	uint32_t i = 0;

	while (i < row->n && row->member[i].iod != iod)
		i++;
	return i;
}

/*
 * A primary that stays primary keeps the promises of the members that stay.  Otherwise they may have
 * ended at the members.
 */
static void replace_row(struct promises_copyset *set, const struct copyset *row)
{
	struct promise_got got[COPYSET_COPIES_MAX] = { { 0 } };

	for (uint32_t i = 0; i < row->n; i++) {
		uint32_t old = find_member(&set->row, row->member[i].iod);

		if (old < set->row.n)
			got[i] = set->got[old];
	}
	memcpy(set->got, got, sizeof(got));
	set->row = *row;
}

int promises_set_row(struct promises *promises, const struct copyset *row)
{
	uint32_t place = find_place(promises, row->id), me = promises->attr.iod;
	struct promises_copyset *set = &promises->set[place];
	bool was_primary;

	if (!find_copyset(promises, row->id)) {
		if (promises->n == promises->attr.copysets_max)
			return -ENOSPC;
		memmove(set + 1, set, (promises->n++ - place) * sizeof(*set));
		memset(set, 0, sizeof(*set));
	} else if (row->version <= set->row.version) {
		return -ESTALE;
	}
	was_primary = is_primary(&set->row, me);
	replace_row(set, row);
	if (!was_primary || !is_primary(row, me)) {
		memset(set->got, 0, sizeof(set->got));
		set->since = row->version;
		set->lent = false;
	}
	return 0;
}

/* ---- at the primary ---- */

uint32_t promises_ask(const struct promises *promises, uint32_t to,
		      uint32_t first, uint64_t now, struct promise_head *head,
		      struct promise *list, uint32_t max)
{
	uint32_t me = promises->attr.iod, n = 0;

	*head = (struct promise_head){ .process = promises->attr.process,
				       .sent = now,
				       .lease = promises->attr.lease };
	for (uint32_t i = find_place(promises, first);
	     to != me && n < max && i < promises->n; i++) {
		const struct promises_copyset *set = &promises->set[i];

		/* An OFFLINE member, too: its answer ends a promise to it. */
		if (is_primary(&set->row, me) &&
		    find_member(&set->row, to) < set->row.n)
			list[n++] =
				(struct promise){ .copyset = set->row.id,
						  .version = set->row.version,
						  .lent = set->lent };
	}
	return n;
}

/* The iod has agreed to a row of this version. */
static void end_given(struct promises_copyset *set, uint32_t iod,
		      uint32_t version)
{
	for (unsigned int i = 0; i < COPYSET_COPIES_MAX; i++)
		if (set->given[i].iod == iod && set->given[i].version < version)
			set->given[i].until = 0;
}

static void extend_time(uint64_t *until, uint64_t to)
{
	if (to > *until)
		*until = to;
}

void promises_accept(struct promises *promises, uint32_t from,
		     const struct promise_head *head,
		     const struct promise *list, uint32_t n, uint64_t now)
{
	uint64_t until = head->sent + promises->attr.lease / 4 * 3;

	if (head->process != promises->attr.process || head->sent > now)
		return;
	for (uint32_t i = 0; i < n; i++) {
		struct promises_copyset *set = find_copyset(promises,
							    list[i].copyset);
		uint32_t member;

		if (!set || list[i].version > set->row.version)
			continue;
		end_given(set, from, list[i].version);
		member = find_member(&set->row, from);
		if (member == set->row.n || list[i].version < set->since)
			continue;
		extend_time(&set->got[member].until, until);
		if (list[i].lent)
			extend_time(&set->got[member].lent_until, until);
	}
}

/* Until when this iod has promised not to serve. */
static uint64_t given_until(const struct promises_copyset *set)
{
	uint64_t until = 0;

	for (unsigned int i = 0; i < COPYSET_COPIES_MAX; i++)
		extend_time(&until, set->given[i].until);
	return until;
}

/* The other members' promises, of those that are not OFFLINE. */
static uint64_t got_until(const struct promises *promises,
			  const struct promises_copyset *set, bool lent)
{
	uint64_t end = UINT64_MAX;

	for (uint32_t i = 0; i < set->row.n; i++) {
		uint64_t until = lent ? set->got[i].lent_until
				      : set->got[i].until;

		if (set->row.member[i].iod != promises->attr.iod &&
		    set->row.member[i].state != COPYSET_OFFLINE && until < end)
			end = until;
	}
	return end;
}

static struct promises_span permission_span(const struct promises *promises,
					    uint32_t copyset, bool lent)
{
	const struct promises_copyset *set = find_copyset(promises, copyset);
	struct promises_span span = { 0, 0 };

	if (!set || !is_primary(&set->row, promises->attr.iod) ||
	    (lent && !set->lent))
		return span;
	span.from = given_until(set);
	if (set->row.n > 1)
		extend_time(&span.from, promises->start + promises->attr.lease);
	span.until = got_until(promises, set, lent);
	return span;
}

struct promises_span promises_serve_span(const struct promises *promises,
					 uint32_t copyset)
{
	return permission_span(promises, copyset, false);
}

struct promises_span promises_lend_span(const struct promises *promises,
					uint32_t copyset)
{
	return permission_span(promises, copyset, true);
}

void promises_set_lent(struct promises *promises, uint32_t copyset, bool lent)
{
	struct promises_copyset *set = find_copyset(promises, copyset);

	if (set && is_primary(&set->row, promises->attr.iod))
		set->lent = lent;
}

/* ---- at the other members ---- */

/* The slot of the iod, or one that is free; NULL: there is none. */
static struct promise_given *find_given(struct promises_copyset *set,
					uint32_t iod, uint64_t now)
{
	struct promise_given *unused = NULL;

	for (unsigned int i = 0; i < COPYSET_COPIES_MAX; i++) {
		struct promise_given *given = &set->given[i];

		if (given->until <= now)
			unused = given;
		else if (given->iod == iod)
			return given;
	}
	if (unused)
		*unused = (struct promise_given){ .iod = iod };
	return unused;
}

static bool give_promise(struct promises *promises, uint32_t to,
			 const struct promise_head *head,
			 const struct promise *promise, uint64_t now)
{
	struct promises_copyset *set = find_copyset(promises, promise->copyset);
	struct promise_given *given;
	bool other;

	if (!set || to == promises->attr.iod ||
	    set->row.version < promise->version || !is_primary(&set->row, to))
		return false;
	given = find_given(set, to, now);
	if (!given)
		return false;
	/*
	 * A delayed request of the process before may come after one of the new process.  So a promise
	 * to both does not end with one of them.
	 */
	other = given->until && given->process != head->process;
	given->version = set->row.version;
	given->process = head->process;
	given->until = now + promises->attr.lease;
	if (promise->lent || other)
		given->lent_until = given->until;
	return true;
}

uint32_t promises_answer(struct promises *promises, uint32_t from,
			 const struct promise_head *head, struct promise *list,
			 uint32_t n, uint64_t now)
{
	uint32_t agreed = 0;

	if (head->lease > promises->attr.lease)
		return 0;
	for (uint32_t i = 0; i < n; i++)
		if (give_promise(promises, from, head, &list[i], now))
			list[agreed++] = list[i];
	return agreed;
}

void promises_end_process(struct promises *promises, uint32_t iod,
			  uint64_t process)
{
	for (uint32_t i = 0; i < promises->n; i++)
		for (unsigned int j = 0; j < COPYSET_COPIES_MAX; j++) {
			struct promise_given *given =
				&promises->set[i].given[j];

			if (given->iod == iod && given->process == process &&
			    given->lent_until < given->until)
				given->until = given->lent_until;
		}
}
