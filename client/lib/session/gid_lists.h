/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gid_lists.h - users with more groups than a message has room for (WIRE_GROUPS_LISTED).
 * Such groups are a numbered list, which is sent when the manager does not have it (server_call.h).  The
 * numbers of users' lists are valid in all sessions of a mount.  A session has a list for
 * its own groups, too.
 */
#ifndef GID_LISTS_H
#define GID_LISTS_H

#include <pthread.h>
#include <stdint.h>
#include <sys/queue.h>

#include "common/wire/wire.h"

struct numbered_gids {
	TAILQ_ENTRY(numbered_gids) link;
	uint64_t number, hash;
	uint32_t n;
	uint32_t gid[]; /* in ascending order */
};
TAILQ_HEAD(gid_list_queue, numbered_gids);

/* The lists of the users of a mount, for any thread. */
struct gid_lists {
	pthread_mutex_t lock;
	/* the most recently used list is at the end */
	struct gid_list_queue lists;
	uint64_t last; /* number given last */
	/* number of groups in all lists, with LIST_COST for each list */
	uint32_t cost;
};

void gid_lists_init(struct gid_lists *table);
void gid_lists_destroy(struct gid_lists *table);

/*
 * Represents gid[n] in groups, which has room for WIRE_GROUPS_MAX: as they are, or as a
 * list.  Returns the number of elements of groups; -ENOMEM; -E2BIG: too many groups.
 */
int gid_lists_name(struct gid_lists *table, const uint32_t *gid, uint32_t n,
		   uint32_t *groups);
/*
 * The same for the groups of a session itself.  *list: NULL, or their list, which the caller
 * frees with free().
 */
int gid_list_make(const uint32_t *gid, uint32_t n, uint32_t *groups,
		  struct numbered_gids **list);

/* A part of a list, as sent in one message. */
struct gid_list_part {
	struct wire_groups head;
	le32 gid[WIRE_GROUPS_PART];
};
/*
 * Fills in the part that begins with group first.  Returns its number of groups; 0: there
 * are no more; -EAGAIN: the list is no longer stored.
 */
int gid_list_part(const struct numbered_gids *list, uint32_t first,
		  struct gid_list_part *part);
int gid_lists_part(struct gid_lists *table, uint64_t number, uint32_t first,
		   struct gid_list_part *part);

#endif
