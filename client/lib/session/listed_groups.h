/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * listed_groups.h - users with more groups than a message has room for (WIRE_GROUPS_LISTED).
 * Such groups are a numbered list, which is sent when the manager does not have it (ask.h).  The
 * numbers of users' lists are valid in all sessions of a mount.  A session has a list for
 * its own groups, too.
 */
#ifndef LISTED_GROUPS_H
#define LISTED_GROUPS_H

#include <pthread.h>
#include <stdint.h>
#include <sys/queue.h>

#include "common/wire/wire.h"

struct listed_groups {
	TAILQ_ENTRY(listed_groups) link;
	uint64_t number, hash;
	uint32_t n;
	uint32_t gid[]; /* in ascending order */
};
TAILQ_HEAD(listed_queue, listed_groups);

/* The lists of the users of a mount, for any thread. */
struct listed {
	pthread_mutex_t lock;
	/* the most recently used list is at the end */
	struct listed_queue lists;
	uint64_t last; /* number given last */
	/* number of groups in all lists, with LIST_COST for each list */
	uint32_t cost;
};

void listed_init(struct listed *listed);
void listed_destroy(struct listed *listed);

/*
 * Represents gid[n] in groups, which has room for WIRE_GROUPS_MAX: as they are, or as a
 * list.  Returns the number of elements of groups; -ENOMEM; -E2BIG: too many groups.
 */
int listed_name(struct listed *listed, const uint32_t *gid, uint32_t n,
		uint32_t *groups);
/*
 * The same for the groups of a session itself.  *list: NULL, or their list, which the caller
 * frees with free().
 */
int group_list_make(const uint32_t *gid, uint32_t n, uint32_t *groups,
		    struct listed_groups **list);

/* A part of a list, as sent in one message. */
struct group_list_part {
	struct wire_groups head;
	le32 gid[WIRE_GROUPS_PART];
};
/*
 * Fills in the part that begins with group first.  Returns its number of groups; 0: there
 * are no more; -EAGAIN: the list is no longer stored.
 */
int group_list_part(const struct listed_groups *list, uint32_t first,
		    struct group_list_part *part);
int group_lists_part(struct listed *listed, uint64_t number, uint32_t first,
		     struct group_list_part *part);

#endif
