/* SPDX-License-Identifier: BSD-2-Clause */
/* gid_lists.c - see gid_lists.h. */
#include "client/lib/session/gid_lists.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/hash_table.h"

/* groups in all lists except the session's own: 16 MiB */
#define LISTS_MAX (4u << 20)
/* overhead of a list, counted as groups: at most 4096 lists */
#define LIST_COST 1024u

void gid_lists_init(struct gid_lists *table)
{
	*table = (struct gid_lists){ .last = 0 };
	TAILQ_INIT(&table->lists);
	pthread_mutex_init(&table->lock, NULL);
}

/* Called with the lock. */
static void drop_oldest(struct gid_lists *table)
{
	struct numbered_gids *list = TAILQ_FIRST(&table->lists);

	TAILQ_REMOVE(&table->lists, list, link);
	table->cost -= list->n + LIST_COST;
	free(list);
}

void gid_lists_destroy(struct gid_lists *table)
{
	while (!TAILQ_EMPTY(&table->lists))
		drop_oldest(table);
	pthread_mutex_destroy(&table->lock);
}

/* ---- naming lists ---- */

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* The kernel lists them so, and sorting 60,000 takes longer than a request. */
static bool is_ascending(const uint32_t *gid, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++)
		if (gid[i - 1] > gid[i])
			return false;
	return true;
}

/* Called with the lock. */
static struct numbered_gids *find_same(struct gid_lists *table,
				       const struct numbered_gids *other)
{
	struct numbered_gids *list;

	TAILQ_FOREACH(list, &table->lists, link)
		if (list->hash == other->hash && list->n == other->n &&
		    !memcmp(list->gid, other->gid, list->n * sizeof(uint32_t)))
			break;
	return list;
}

/* Called with the lock.  Consumes list.  Returns its number. */
static uint64_t list_enter(struct gid_lists *table, struct numbered_gids *list)
{
	struct numbered_gids *same = find_same(table, list);

	if (same) {
		free(list);
		TAILQ_REMOVE(&table->lists, same, link);
		TAILQ_INSERT_TAIL(&table->lists, same, link);
		return same->number;
	}
	while (table->cost && table->cost + list->n + LIST_COST > LISTS_MAX)
		drop_oldest(table);
	list->number = ++table->last;
	table->cost += list->n + LIST_COST;
	TAILQ_INSERT_TAIL(&table->lists, list, link);
	return list->number;
}

/*
 * The number is the one that a server on this host computes from the groups that the
 * kernel reports.
 */
int gid_list_make(const uint32_t *gid, uint32_t n, uint32_t *groups,
		  struct numbered_gids **out)
{
	struct numbered_gids *list;

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
	if (!is_ascending(gid, n))
		qsort(list->gid, n, sizeof(*gid), by_number);
	list->hash = fnv_words(FNV_START, list->gid, n);
	*out = list;
	return (int)wire_groups_name(groups, list->number);
}

int gid_lists_name(struct gid_lists *table, const uint32_t *gid, uint32_t n,
		   uint32_t *groups)
{
	struct numbered_gids *list;
	int rc = gid_list_make(gid, n, groups, &list);
	uint64_t number;

	if (!list)
		return rc;
	pthread_mutex_lock(&table->lock);
	number = list_enter(table, list);
	pthread_mutex_unlock(&table->lock);
	return (int)wire_groups_name(groups, number);
}

int gid_list_part(const struct numbered_gids *list, uint32_t first,
		  struct gid_list_part *part)
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

int gid_lists_part(struct gid_lists *table, uint64_t number, uint32_t first,
		   struct gid_list_part *part)
{
	const struct numbered_gids *list;
	int n = -EAGAIN; /* -ENOENT would look like an error of the file */

	pthread_mutex_lock(&table->lock);
	TAILQ_FOREACH(list, &table->lists, link)
		if (list->number == number)
			n = gid_list_part(list, first, part);
	pthread_mutex_unlock(&table->lock);
	return n;
}
