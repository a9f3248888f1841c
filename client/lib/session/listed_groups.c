/* SPDX-License-Identifier: BSD-2-Clause */
/* listed_groups.c - see listed_groups.h. */
#include "client/lib/session/listed_groups.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/fnv.h"

/* groups in all lists except the session's own: 16 MiB */
#define LISTS_MAX (4u << 20)
/* overhead of a list, counted as groups: at most 4096 lists */
#define LIST_COST 1024u

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

/*
 * The number is the one that a server on this host computes from the groups that the
 * kernel reports.
 */
int group_list_make(const uint32_t *gid, uint32_t n, uint32_t *groups,
		    struct listed_groups **out)
{
	struct listed_groups *list;

	*out = NULL;
	if (n <= WIRE_GROUPS_MAX) {
		memcpy(groups, gid, n * sizeof(*gid));
		return (int)n;
	}
	if (n > WIRE_GROUPS_ALL)
		return -E2BIG;
	list = calloc(1, sizeof(*list) + n * sizeof(*gid));
	if (!list)
		return -ENOMEM;
	list->number = fnv_words(FNV_START, gid, n);
	list->n = n;
	memcpy(list->gid, gid, n * sizeof(*gid));
	qsort(list->gid, n, sizeof(*gid), by_number);
	list->hash = fnv_words(FNV_START, list->gid, n);
	*out = list;
	return (int)wire_groups_name(groups, list->number);
}

int listed_name(struct listed *listed, const uint32_t *gid, uint32_t n,
		uint32_t *groups)
{
	struct listed_groups *list;
	int rc = group_list_make(gid, n, groups, &list);
	uint64_t number;

	if (!list)
		return rc;
	pthread_mutex_lock(&listed->lock);
	number = list_enter(listed, list);
	pthread_mutex_unlock(&listed->lock);
	return (int)wire_groups_name(groups, number);
}

int group_list_part(const struct listed_groups *list, uint32_t first,
		    struct group_list_part *part)
{
	uint32_t n = list->n - first;

	if (n > WIRE_GROUPS_PART)
		n = WIRE_GROUPS_PART;
	for (uint32_t i = 0; i < n; i++)
		part->gid[i] = htole32(list->gid[first + i]);
	part->head = (struct wire_groups){ .list = htole64(list->number),
					   .total = htole32(list->n),
					   .first = htole32(first),
					   .n = htole32(n) };
	return (int)n;
}

int group_lists_part(struct listed *listed, uint64_t number, uint32_t first,
		     struct group_list_part *part)
{
	const struct listed_groups *list;
	int n = -EAGAIN; /* -ENOENT would look like an error of the file */

	pthread_mutex_lock(&listed->lock);
	TAILQ_FOREACH(list, &listed->lists, link)
		if (list->number == number)
			n = group_list_part(list, first, part);
	pthread_mutex_unlock(&listed->lock);
	return n;
}
