/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * user_groups.h - the groups of a user, from the name service of this host.  A cache holds
 * USER_GROUPS_MAX users for USER_GROUPS_MS.
 *
 * user_groups_query() may be called from any thread.  The caller owns the cache and serialises
 * the calls with it.
 */
#ifndef USER_GROUPS_H
#define USER_GROUPS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/trust/handshake.h"

/* The groups of a user, if struct admitted has no room for them; gid is NULL if it has. */
struct gid_list {
	uint32_t *gid; /* for free() */
	uint32_t n;
};

#define USER_GROUPS_MAX 256u
#define USER_GROUPS_MS 60000u

/* The cache.  Zeroed: empty. */
struct user_groups {
	struct user_groups_entry {
		uint64_t until; /* clock_now(); 0: empty */
		bool primary; /* gid is from the name service, too */
		struct admitted who;
	} entry[USER_GROUPS_MAX];
};

/*
 * Queries the name service, without a time limit.  who->uid is given.  primary: also sets
 * who->gid; otherwise it is given.  An unknown user has no groups, and is an error (-ENOENT) only
 * with primary.  On success the caller frees many->gid, if it is set.  -EAGAIN: no answer;
 * -E2BIG: the user is in more groups than Linux allows; -ENOMEM.
 */
int user_groups_query(struct admitted *who, bool primary,
		      struct gid_list *many);
/* The same from the cache; false: not there. */
bool user_groups_find(const struct user_groups *groups, struct admitted *who,
		      bool primary);
void user_groups_store(struct user_groups *groups, const struct admitted *who,
		       bool primary);

#endif
