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

/* The groups of a user, if struct admitted has no room for them. Otherwise gid is NULL. */
struct gid_list {
	uint32_t *gid; /* the caller frees it with free() */
	uint32_t n;
};

#define USER_GROUPS_MAX 256u
#define USER_GROUPS_MS 60000u

/* The cache. All zero if it is empty. */
struct user_groups {
	struct user_groups_entry {
		/* valid until this time (clock_now()); 0 if empty */
		uint64_t until;
		/* gid is from the name service, as the groups are */
		bool primary;
		struct admitted who;
	} entry[USER_GROUPS_MAX];
};

/*
 * Queries the name service, without a time limit, for the user who->uid. If `primary` is true, also
 * sets who->gid; otherwise the caller has set it. An unknown user has no groups, and is an error
 * (-ENOENT) only with `primary`. On success the caller frees many->gid, if it is set. Returns 0;
 * -EAGAIN if there is no answer; -E2BIG if the user is in more groups than Linux allows; or
 * -ENOMEM.
 */
int user_groups_query(struct admitted *who, bool primary,
		      struct gid_list *many);
/* Reads the groups from the cache. Returns false if the user is not in it. */
bool user_groups_find(const struct user_groups *groups, struct admitted *who,
		      bool primary);
void user_groups_store(struct user_groups *groups, const struct admitted *who,
		       bool primary);

#endif
