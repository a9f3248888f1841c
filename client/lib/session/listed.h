/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * listed.h - more groups than a message has room for (WIRE_GROUPS_LISTED).  They are kept under
 * a number, and sent when the manager does not have them.  The number of users' groups
 * holds for all sessions of a mount; a session has its own groups beside that.
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
	uint32_t gid[]; /* ascending */
};
TAILQ_HEAD(listed_queue, listed_groups);

/* Of the users of a mount; any thread. */
struct listed {
	pthread_mutex_t lock;
	struct listed_queue lists; /* the one used last at the end */
	uint64_t last; /* number */
	uint32_t cost; /* groups of lists, and what they cost beside */
};

void listed_init(struct listed *listed);
void listed_destroy(struct listed *listed);

/*
 * Names gid[n] in groups, which have room for WIRE_GROUPS_MAX: as they are, or as a list.
 * Returns how many there are then; -ENOMEM; -E2BIG: more than can be.
 */
int listed_name(struct listed *listed, const uint32_t *gid, uint32_t n,
		uint32_t *groups);
/* The same for those of a session itself; *own is set if they are a list, for free(). */
int listed_name_own(const uint32_t *gid, uint32_t n, uint32_t *groups,
		    struct listed_groups **own);
/* To the manager; number 0: the session's own.  -EAGAIN: they are not kept any more. */
int listed_send(struct session *s, uint64_t number);

#endif
