/* SPDX-License-Identifier: BSD-2-Clause */
/* requester_groups.h - the supplementary groups of the thread that made a request. */
#ifndef REQUESTER_GROUPS_H
#define REQUESTER_GROUPS_H

#include <stdint.h>
#include <sys/types.h>

#define REQUESTER_GROUPS_FEW 64u
#define REQUESTER_GROUPS_USERS 64u

/* Users whose last list of groups was long, each in the slot for its uid.  All zero: none. */
struct requester_users {
	_Atomic uint32_t uid[REQUESTER_GROUPS_USERS];
};

struct requester_groups {
	uint32_t n;
	uint32_t *gid; /* few, or memory of its own */
	uint32_t few[REQUESTER_GROUPS_FEW];
};

/*
 * Reads all groups of thread, which waits for the request, from /proc.  The kernel formats them in
 * ascending order for each read, so they are read in one pass.  Returns 0; -ENOMEM; -ENOENT or
 * -ESRCH: there is no such thread in this name space of processes; another error of open() or
 * read(); -EBADMSG: there is no list of groups.  After success the caller calls
 * requester_groups_free().
 */
int requester_groups_read(pid_t thread, struct requester_groups *groups);
/*
 * As requester_groups_read(), for a request of that user.  The kernel formats the 65,536 groups
 * that a user may have in milliseconds.  If the last list of the user was long, requests of other
 * users are served meanwhile.  For this, a coroutine stops until another thread has read the list,
 * and a thread hands over its watched descriptor.  Never called for root, whose uid is 0.
 */
int requester_groups_get(struct requester_users *users, uint32_t uid,
			 pid_t thread, struct requester_groups *groups);
void requester_groups_free(struct requester_groups *groups);

#endif
