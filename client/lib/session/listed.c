/* SPDX-License-Identifier: BSD-2-Clause */
/* listed.c - see listed.h. */
#include "client/lib/session/listed.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "client/lib/session/ask.h"
#include "common/util/fnv.h"

/* groups in all lists except the session's own: 16 MiB */
#define LISTS_MAX (4u << 20)
/* overhead of a list, counted as groups: at most 4096 lists */
#define LIST_COST 1024u
#define TRIES 4

void listed_init(struct listed *listed)
{
	*listed = (struct listed){ .last = 0 };
	TAILQ_INIT(&listed->lists);
	pthread_mutex_init(&listed->lock, NULL);
}

/* Called with the lock. */
static void drop_oldest(struct listed *listed)
{
	struct listed_groups *list = TAILQ_FIRST(&listed->lists);

	TAILQ_REMOVE(&listed->lists, list, link);
	listed->cost -= list->n + LIST_COST;
	free(list);
}

void listed_destroy(struct listed *listed)
{
	while (!TAILQ_EMPTY(&listed->lists))
		drop_oldest(listed);
	pthread_mutex_destroy(&listed->lock);
}

/* ---- naming lists ---- */

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

static struct listed_groups *list_new(const uint32_t *gid, uint32_t n)
{
	struct listed_groups *list = calloc(1,
					    sizeof(*list) + n * sizeof(*gid));

	if (!list)
		return NULL;
	list->n = n;
	memcpy(list->gid, gid, n * sizeof(*gid));
	qsort(list->gid, n, sizeof(*gid), by_number);
	list->hash = fnv_words(FNV_START, list->gid, n);
	return list;
}

/* Called with the lock. */
static struct listed_groups *find_same(struct listed *listed,
				       const struct listed_groups *other)
{
	struct listed_groups *list;

	TAILQ_FOREACH(list, &listed->lists, link)
		if (list->hash == other->hash && list->n == other->n &&
		    !memcmp(list->gid, other->gid, list->n * sizeof(uint32_t)))
			break;
	return list;
}

/* Called with the lock.  Consumes list.  Returns its number. */
static uint64_t list_enter(struct listed *listed, struct listed_groups *list)
{
	struct listed_groups *same = find_same(listed, list);

	if (same) {
		free(list);
		TAILQ_REMOVE(&listed->lists, same, link);
		TAILQ_INSERT_TAIL(&listed->lists, same, link);
		return same->number;
	}
	while (listed->cost && listed->cost + list->n + LIST_COST > LISTS_MAX)
		drop_oldest(listed);
	list->number = ++listed->last;
	listed->cost += list->n + LIST_COST;
	TAILQ_INSERT_TAIL(&listed->lists, list, link);
	return list->number;
}

static int groups_copy(const uint32_t *gid, uint32_t n, uint32_t *groups)
{
	memcpy(groups, gid, n * sizeof(*gid));
	return (int)n;
}

int listed_name(struct listed *listed, const uint32_t *gid, uint32_t n,
		uint32_t *groups)
{
	struct listed_groups *list;
	uint64_t number;

	if (n <= WIRE_GROUPS_MAX)
		return groups_copy(gid, n, groups);
	if (n > WIRE_GROUPS_ALL)
		return -E2BIG;
	list = list_new(gid, n);
	if (!list)
		return -ENOMEM;
	pthread_mutex_lock(&listed->lock);
	number = list_enter(listed, list);
	pthread_mutex_unlock(&listed->lock);
	return (int)wire_groups_name(groups, number);
}

/*
 * The number is the one that a server on this host computes from the groups that the
 * kernel reports.
 */
int listed_name_own(const uint32_t *gid, uint32_t n, uint32_t *groups,
		    struct listed_groups **own)
{
	struct listed_groups *list;

	if (n <= WIRE_GROUPS_MAX)
		return groups_copy(gid, n, groups);
	if (n > WIRE_GROUPS_ALL)
		return -E2BIG;
	list = list_new(gid, n);
	if (!list)
		return -ENOMEM;
	list->number = fnv_words(FNV_START, gid, n);
	*own = list;
	return (int)wire_groups_name(groups, list->number);
}

/* ---- sending ---- */

/* Puts a part of the list, from group first. */
static int groups_put_part(struct ask *c, const struct listed_groups *list,
			   uint32_t first)
{
	uint32_t n = list->n - first;
	struct wire_groups part;
	le32 gid[WIRE_GROUPS_PART];

	if (n > WIRE_GROUPS_PART)
		n = WIRE_GROUPS_PART;
	for (uint32_t i = 0; i < n; i++)
		gid[i] = htole32(list->gid[first + i]);
	part = (struct wire_groups){ .list = htole64(list->number),
				     .total = htole32(list->n),
				     .first = htole32(first),
				     .n = htole32(n) };
	ask_put(c, &part, sizeof(part));
	ask_put(c, gid, n * sizeof(gid[0]));
	return (int)n;
}

/* Returns the number of groups put; 0: there are no more. */
static int put_part(struct session *s, uint64_t number, uint32_t first,
		    struct ask *c)
{
	const struct listed_groups *list;
	int n = -EAGAIN; /* -ENOENT would look like an error of the file */

	if (!number)
		return s->own ? groups_put_part(c, s->own, first) : -EAGAIN;
	if (!s->listed)
		return -EAGAIN;
	pthread_mutex_lock(&s->listed->lock);
	TAILQ_FOREACH(list, &s->listed->lists, link)
		if (list->number == number)
			n = groups_put_part(c, list, first);
	pthread_mutex_unlock(&s->listed->lock);
	return n;
}

static int send_once(struct session *s, uint64_t number)
{
	struct ask c;
	uint32_t first = 0;
	int n, rc = 0;

	for (; !rc; first += (uint32_t)n) {
		ask_begin(&c, s, s->mgr);
		n = put_part(s, number, first, &c);
		if (n <= 0)
			return n;
		rc = ask_run(&c, WIRE_GROUPS, NULL, NULL);
	}
	return rc;
}

/*
 * The list may be dropped at the manager for others before its last part arrives, so try
 * again.
 */
int listed_send(struct session *s, uint64_t number)
{
	int rc = -EAGAIN;

	for (int i = 0; rc == -EAGAIN && i < TRIES; i++)
		rc = send_once(s, number);
	return rc;
}
