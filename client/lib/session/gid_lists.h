/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gid_lists.h - the groups of users who have more groups than fit in a message
 * (WIRE_GROUPS_LISTED).  A message then names a list by its number.  If the manager does not
 * have the list, the client sends it (server_call.h).  The numbers are valid in all sessions of
 * a mount.  A session may also have a list of its own groups.
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
 * Writes the n groups gid to groups, which has room for WIRE_GROUPS_MAX elements.  If they do not
 * fit, stores them in table and writes the number of the list instead.  Returns the number of
 * elements of groups; -ENOMEM; or -E2BIG: too many groups.
 */
int gid_lists_name(struct gid_lists *table, const uint32_t *gid, uint32_t n,
		   uint32_t *groups);
/*
 * gid_lists_name() for the groups of a session itself, without a table.  *list is NULL, or the
 * list of these groups, which the caller frees with free().
 */
int gid_list_make(const uint32_t *gid, uint32_t n, uint32_t *groups,
		  struct numbered_gids **list);

/* A part of a list, as sent in one message. */
struct gid_list_part {
	struct wire_groups head;
	le32 gid[WIRE_GROUPS_PART];
};
/*
 * Fill *part with the groups of a list from index first on.  Return the number of groups in the
 * part; 0: the list has no more; -EAGAIN: the table no longer has the list number.
 */
int gid_list_part(const struct numbered_gids *list, uint32_t first,
		  struct gid_list_part *part);
int gid_lists_part(struct gid_lists *table, uint64_t number, uint32_t first,
		   struct gid_list_part *part);

#endif
