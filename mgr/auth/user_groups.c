/* SPDX-License-Identifier: BSD-2-Clause */
/* user_groups.c - the groups of users, from the name service and from a cache. */
#include "mgr/auth/user_groups.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>

#include "common/util/clock.h"

#define TEXT_MAX 16384u
#define LIST_FIRST 256 /* room for the first query */
/* With the user's primary group, which can be in the list. */
#define LIST_MAX ((int)WIRE_GROUPS_ALL + 1)

/* Returns all groups: *n of them in *list, which the caller frees. */
static int query_list(const char *name, uint32_t gid, gid_t **list, int *n)
{
	int room = LIST_FIRST;
	gid_t *more;

	*list = NULL;
	do {
		more = reallocarray(*list, (size_t)room, sizeof(*more));
		if (!more) {
			free(*list);
			return -ENOMEM;
		}
		*list = more;
		*n = room;
		if (getgrouplist(name, gid, *list, n) >= 0)
			return 0;
		/* an unchanged *n means that libc had no memory */
		room = *n > room ? *n : 2 * room;
	} while (room <= LIST_MAX);
	free(*list);
	return -E2BIG;
}

/* The primary group does not count. */
static int remove_group(gid_t *list, int n, uint32_t gid)
{
	int kept = 0;

	for (int i = 0; i < n; i++)
		if (list[i] != gid)
			list[kept++] = list[i];
	return kept;
}

static int fill_groups(const char *name, struct admitted *who,
		       struct gid_list *many)
{
	gid_t *list;
	int n, rc = query_list(name, who->gid, &list, &n);

	if (rc)
		return rc;
	if (n > (int)WIRE_GROUPS_MAX)
		n = remove_group(list, n, who->gid);
	if (n > (int)WIRE_GROUPS_ALL) {
		free(list);
		return -E2BIG;
	}
	if (n > (int)WIRE_GROUPS_MAX) {
		*many = (struct gid_list){ list, (uint32_t)n };
		return 0;
	}
	for (int i = 0; i < n; i++)
		who->groups[i] = list[i];
	who->ngroups = (uint32_t)n;
	free(list);
	return 0;
}

static int query_user(struct admitted *who, bool primary, char *text,
		      struct gid_list *many)
{
	struct passwd pw, *found = NULL;
	int rc = getpwuid_r(who->uid, &pw, text, TEXT_MAX, &found);

	if (!found && rc && rc != ENOENT && rc != ESRCH)
		return -EAGAIN;
	who->ngroups = 0;
	if (!found)
		return primary ? -ENOENT : 0;
	if (primary)
		who->gid = pw.pw_gid;
	return fill_groups(pw.pw_name, who, many);
}

int user_groups_query(struct admitted *who, bool primary, struct gid_list *many)
{
	char *text = malloc(TEXT_MAX);
	int rc = text ? query_user(who, primary, text, many) : -ENOMEM;

	free(text);
	return rc;
}

bool user_groups_find(const struct user_groups *groups, struct admitted *who,
		      bool primary)
{
	const struct user_groups_entry *e =
		&groups->entry[who->uid % USER_GROUPS_MAX];

	if (e->until <= clock_now() || e->who.uid != who->uid ||
	    e->primary != primary || (!primary && e->who.gid != who->gid))
		return false;
	*who = e->who;
	return true;
}

void user_groups_store(struct user_groups *groups, const struct admitted *who,
		       bool primary)
{
	groups->entry[who->uid % USER_GROUPS_MAX] = (struct user_groups_entry){
		clock_after_ms(USER_GROUPS_MS), primary, *who
	};
}
