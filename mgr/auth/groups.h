/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * groups.h - the groups of a user, as the name service of this host says: asked at most
 * once a minute for one, and so many are kept.
 */
#ifndef GROUPS_H
#define GROUPS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/trust/handshake.h"

/* Of one user, where struct admitted has no room for them; NULL: it has. */
struct gids {
	uint32_t *gid; /* for free() */
	uint32_t n;
};

#define GROUPS_KEPT 256u
#define GROUPS_KEEP_MS 60000u

/* Zeros: nothing is known. */
struct groups {
	struct groups_entry {
		uint64_t until; /* clock_now(); 0: empty */
		bool primary; /* gid was the name service's word, too */
		struct admitted who;
	} kept[GROUPS_KEPT];
};

/*
 * Asks, however long that takes: who->uid is given, and who->gid unless primary, which
 * asks for that as well.  A user whom it does not know has no groups, and is an error
 * (-ENOENT) only with primary.  -EAGAIN: it did not answer; -E2BIG: he is in more groups
 * than Linux allows.
 */
int groups_ask(struct admitted *who, bool primary, struct gids *many);
/* The same from what is kept; false: it is to be asked. */
bool groups_find(const struct groups *groups, struct admitted *who,
		 bool primary);
void groups_keep(struct groups *groups, const struct admitted *who,
		 bool primary);

#endif
