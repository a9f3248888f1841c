/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * group_lists.h - lists of groups that do not fit into a message, by their numbers
 * (WIRE_GROUPS_LISTED).  A list belongs to the session that sent it, or to the manager
 * if the kernel or the name service supplied the groups.  New lists evict the least
 * recently used ones; pinned lists stay.
 */
#ifndef GROUP_LISTS_H
#define GROUP_LISTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "common/util/hash_table.h"

#define GROUP_LISTS_MAX (16u << 20) /* maximum of groups in all lists: 64 MiB */
/* maximum of groups in the lists of one session */
#define GROUP_OWNER_MAX (2u << 20)
#define GROUP_LIST_COST 64u /* cost of a list in addition to its groups */

TAILQ_HEAD(group_list_queue, group_list);

struct group_key {
	const struct group_owner *owner;
	uint64_t number;
};

/* All zero if it has no lists. */
struct group_owner {
	struct group_list_queue lists; /* the least recently used first */
	uint32_t cost;
	bool ready; /* lists is initialised */
};

struct group_list {
	struct group_key key;
	struct group_owner *owner;
	/* `have` of the `total` groups are stored, in ascending order */
	uint32_t total, have;
	unsigned int pins; /* if not 0, the list is in no queue */
	UT_hash_handle hh;
	TAILQ_ENTRY(group_list) link, of_owner;
	uint32_t gid[];
};

/* All zero if there are no lists. */
struct group_lists {
	struct group_list *table;
	struct group_owner all; /* every list that is not pinned */
	struct group_owner own; /* the manager's own lists */
};

/*
 * Adds a list of the owner for `total` groups, with no group yet. Sets *out to the list, which
 * `lists` owns. Returns 0; -EEXIST if the owner has a list of this number; -EINVAL if there are
 * more than WIRE_GROUPS_ALL groups; or -ENOMEM if there is no memory, or if the lists of the owner
 * or of all owners have no room left.
 */
int group_lists_add(struct group_lists *lists, struct group_owner *owner,
		    uint64_t number, uint32_t total, struct group_list **out);
/*
 * Adds a complete list with the n groups gid, sorts it, and pins it for the caller, who
 * unpins it.  Errors are those of group_lists_add().
 */
int group_lists_take(struct group_lists *lists, struct group_owner *owner,
		     uint64_t number, const uint32_t *gid, uint32_t n,
		     struct group_list **out);
/*
 * Returns the owner's list of this number, or NULL if there is none.  The list may be incomplete.
 */
struct group_list *group_lists_find(struct group_lists *lists,
				    struct group_owner *owner, uint64_t number);
/*
 * Stores the n groups gid as the groups first to first + n - 1 of the list. Groups that are stored
 * already stay unchanged. Returns 0; -EAGAIN if groups before `first` are missing; -EINVAL if the
 * groups are not in ascending order, or too many.
 */
int group_list_put(struct group_list *list, uint32_t first, const uint32_t *gid,
		   uint32_t n);
static inline bool group_list_whole(const struct group_list *list)
{
	return list && list->have == list->total;
}

/* Pins a list, so that it is not evicted. Pins are counted. */
void group_list_pin(struct group_lists *lists, struct group_list *list);
/* list may be NULL. */
void group_list_unpin(struct group_lists *lists, struct group_list *list);
/* Frees the lists of one owner that are not pinned. */
void group_lists_forget(struct group_lists *lists, struct group_owner *owner);
/* Frees all lists, pinned or not. Their owners must not exist any more. */
void group_lists_free(struct group_lists *lists);

#endif
