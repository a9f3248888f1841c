/* SPDX-License-Identifier: BSD-2-Clause */
/* group_lists.c - see group_lists.h. */
#include "mgr/request/group_lists.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/wire/wire.h"

static struct group_list_queue *queue_of(struct group_owner *owner)
{
	if (!owner->ready)
		TAILQ_INIT(&owner->lists);
	owner->ready = true;
	return &owner->lists;
}

static uint32_t cost_of(uint32_t total)
{
	return total + GROUP_LIST_COST;
}

/* ---- the queues: lists that may be evicted ---- */

static void list_enqueue(struct group_lists *lists, struct group_list *list)
{
	TAILQ_INSERT_TAIL(queue_of(&lists->all), list, link);
	TAILQ_INSERT_TAIL(queue_of(list->owner), list, of_owner);
}

static void list_dequeue(struct group_lists *lists, struct group_list *list)
{
	TAILQ_REMOVE(&lists->all.lists, list, link);
	TAILQ_REMOVE(&list->owner->lists, list, of_owner);
}

static void list_evict(struct group_lists *lists, struct group_list *list)
{
	list_dequeue(lists, list);
	HASH_DEL(lists->table, list);
	lists->all.cost -= cost_of(list->total);
	list->owner->cost -= cost_of(list->total);
	free(list);
}

static int make_room(struct group_lists *lists, struct group_owner *owner,
		     uint32_t max, uint32_t total)
{
	while (owner->cost + cost_of(total) > max) {
		struct group_list *oldest = TAILQ_FIRST(queue_of(owner));

		if (!oldest)
			return -ENOMEM;
		list_evict(lists, oldest);
	}
	return 0;
}

/* ---- lists ---- */

int group_lists_add(struct group_lists *lists, struct group_owner *owner,
		    uint64_t number, uint32_t total, struct group_list **out)
{
	struct group_list *list;
	int rc = 0;

	if (total > WIRE_GROUPS_ALL)
		return -EINVAL;
	if (group_lists_find(lists, owner, number))
		return -EEXIST;
	if (owner != &lists->own)
		rc = make_room(lists, owner, GROUP_OWNER_MAX, total);
	if (!rc)
		rc = make_room(lists, &lists->all, GROUP_LISTS_MAX, total);
	if (rc)
		return rc;
	list = calloc(1, sizeof(*list) + total * sizeof(list->gid[0]));
	if (!list)
		return -ENOMEM;
	list->key.owner = list->owner = owner;
	list->key.number = number;
	list->total = total;
	HASH_ADD(hh, lists->table, key, sizeof(list->key), list);
	if (!list->hh.tbl) {
		free(list);
		return -ENOMEM;
	}
	lists->all.cost += cost_of(total);
	owner->cost += cost_of(total);
	list_enqueue(lists, list);
	*out = list;
	return 0;
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

int group_lists_take(struct group_lists *lists, struct group_owner *owner,
		     uint64_t number, const uint32_t *gid, uint32_t n,
		     struct group_list **out)
{
	struct group_list *list;
	int rc = group_lists_add(lists, owner, number, n, &list);

	if (rc)
		return rc;
	memcpy(list->gid, gid, n * sizeof(*gid));
	qsort(list->gid, n, sizeof(*gid), by_number);
	list->have = n;
	group_list_pin(lists, list);
	*out = list;
	return 0;
}

struct group_list *group_lists_find(struct group_lists *lists,
				    struct group_owner *owner, uint64_t number)
{
	const struct group_key key = { owner, number };
	struct group_list *list;

	HASH_FIND(hh, lists->table, &key, sizeof(key), list);
	if (list && !list->pins) {
		list_dequeue(lists, list);
		list_enqueue(lists, list);
	}
	return list;
}

int group_list_put(struct group_list *list, uint32_t first, const uint32_t *gid,
		   uint32_t n)
{
	uint32_t last = list->have ? list->gid[list->have - 1] : 0;

	if (n > list->total || first > list->total - n)
		return -EINVAL;
	if (first + n <= list->have)
		return 0;
	if (first != list->have)
		return -EAGAIN;
	for (uint32_t i = 0; i < n; last = gid[i++])
		if (gid[i] < last)
			return -EINVAL;
	memcpy(list->gid + first, gid, n * sizeof(*gid));
	list->have += n;
	return 0;
}

void group_list_pin(struct group_lists *lists, struct group_list *list)
{
	if (!list->pins++)
		list_dequeue(lists, list);
}

void group_list_unpin(struct group_lists *lists, struct group_list *list)
{
	if (list && !--list->pins)
		list_enqueue(lists, list);
}

void group_lists_forget(struct group_lists *lists, struct group_owner *owner)
{
	struct group_list *list;

	while ((list = TAILQ_FIRST(queue_of(owner))))
		list_evict(lists, list);
}

void group_lists_free(struct group_lists *lists)
{
	struct group_list *list, *next;

	HASH_ITER(hh, lists->table, list, next) {
		HASH_DEL(lists->table, list);
		free(list);
	}
}
