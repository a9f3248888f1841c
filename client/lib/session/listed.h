/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * listed.h - users with more groups than a message has room for (WIRE_GROUPS_LISTED).
 * Such groups are a numbered list, which is sent when the manager does not have it.  The
 * numbers of users' lists are valid in all sessions of a mount.  A session has a list for
 * its own groups, too.
 */
#ifndef LISTED_H
#define LISTED_H

#include <pthread.h>
#include <stdint.h>
#include <sys/queue.h>

struct session;

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
 * The same for the groups of a session itself.  Sets *own if they are a list; the caller
 * frees it with free().
 */
int listed_name_own(const uint32_t *gid, uint32_t n, uint32_t *groups,
		    struct listed_groups **own);
/*
 * Sends the list to the manager; number 0: the session's own.  -EAGAIN: the list is no
 * longer stored.
 */
int listed_send(struct session *s, uint64_t number);

#endif
