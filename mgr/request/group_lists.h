/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * group_lists.h - lists of groups for which a message has no room, by their numbers
 * (WIRE_GROUPS_LISTED).  A list belongs to the session that sent it, or to the manager if
 * the kernel or the name service named the groups.  The lists that were not used for the longest
 * time make room for others; a list that is pinned stays.
 */
#ifndef GROUP_LISTS_H
#define GROUP_LISTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "common/util/hash_table.h"

#define GROUP_LISTS_MAX (16u << 20) /* groups of all lists: 64 MiB */
#define GROUP_OWNER_MAX (2u << 20) /* ... of the lists of one session */
#define GROUP_LIST_COST 64u /* groups that a list itself counts for */

TAILQ_HEAD(group_list_queue, group_list);

struct group_key {
	const struct group_owner *owner;
	uint64_t number;
};

/* Zeros: it has none. */
struct group_owner {
	struct group_list_queue lists; /* the one used last at the end */
	uint32_t cost;
	bool ready; /* lists is initialised */
};

struct group_list {
	struct group_key key;
	struct group_owner *owner;
	uint32_t total, have; /* in ascending order */
	unsigned int pins; /* not 0: it is in no queue */
	UT_hash_handle hh;
	TAILQ_ENTRY(group_list) link, of_owner;
	uint32_t gid[];
};

/* Zeros: there are none. */
struct group_lists {
	struct group_list *table;
	struct group_owner all; /* every list that is not pinned */
	struct group_owner own; /* the manager's */
};

/* An empty one.  -EEXIST, -EINVAL: more groups than can be; -ENOMEM: no room is left. */
int group_lists_add(struct group_lists *lists, struct group_owner *owner,
		    uint64_t number, uint32_t total, struct group_list **out);
/* All at once, sorted here; pinned for the caller.  As group_lists_add(). */
int group_lists_take(struct group_lists *lists, struct group_owner *owner,
		     uint64_t number, const uint32_t *gid, uint32_t n,
		     struct group_list **out);
/* Whole or not; NULL: there is none. */
struct group_list *group_lists_find(struct group_lists *lists,
				    struct group_owner *owner, uint64_t number);
/*
 * Groups first to first + n of the list; those that are there stay as they are.
 * -EAGAIN: there are none yet right before them; -EINVAL: they do not ascend, or are too
 * many.
 */
int group_list_put(struct group_list *list, uint32_t first, const uint32_t *gid,
		   uint32_t n);
static inline bool group_list_whole(const struct group_list *list)
{
	return list && list->have == list->total;
}

void group_list_pin(struct group_lists *lists, struct group_list *list);
/* NULL is fine. */
void group_list_unpin(struct group_lists *lists, struct group_list *list);
/* Every list that is not pinned, of one owner. */
void group_lists_forget(struct group_lists *lists, struct group_owner *owner);
/* Pinned or not; the owners are gone. */
void group_lists_free(struct group_lists *lists);

#endif
