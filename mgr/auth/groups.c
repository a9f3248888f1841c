/* SPDX-License-Identifier: BSD-2-Clause */
/* groups.c - see groups.h. */
#include "mgr/auth/groups.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>

#include "common/util/clock.h"

#define TEXT_MAX 16384u
#define LIST_FIRST 256 /* groups that are asked for at first */
/* A user's own group may be among them, or not. */
#define LIST_MAX ((int)WIRE_GROUPS_ALL + 1)

/* However many there are: *list is for free(), *n how many. */
static int ask_all(const char *name, uint32_t gid, gid_t **list, int *n)
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
		/* or there is no memory, and it says nothing */
		room = *n > room ? *n : 2 * room;
	} while (room <= LIST_MAX);
	free(*list);
	return -E2BIG;
}

/* What he is in already counts for nothing. */
static int without(gid_t *list, int n, uint32_t gid)
{
	int kept = 0;

	for (int i = 0; i < n; i++)
		if (list[i] != gid)
			list[kept++] = list[i];
	return kept;
}

static int ask_list(const char *name, struct admitted *who, struct gids *many)
{
	gid_t *list;
	int n, rc = ask_all(name, who->gid, &list, &n);

	if (rc)
		return rc;
	if (n > (int)WIRE_GROUPS_MAX)
		n = without(list, n, who->gid);
	if (n > (int)WIRE_GROUPS_ALL) {
		free(list);
		return -E2BIG;
	}
	if (n > (int)WIRE_GROUPS_MAX) {
		*many = (struct gids){ list, (uint32_t)n };
		return 0;
	}
	for (int i = 0; i < n; i++)
		who->groups[i] = list[i];
	who->ngroups = (uint32_t)n;
	free(list);
	return 0;
}

static int ask(struct admitted *who, bool primary, char *text,
	       struct gids *many)
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
	return ask_list(pw.pw_name, who, many);
}

int groups_ask(struct admitted *who, bool primary, struct gids *many)
{
	char *text = malloc(TEXT_MAX);
	int rc = text ? ask(who, primary, text, many) : -ENOMEM;

	free(text);
	return rc;
}

bool groups_find(const struct groups *groups, struct admitted *who,
		 bool primary)
{
	const struct groups_entry *e = &groups->kept[who->uid % GROUPS_KEPT];

	if (e->until <= clock_now() || e->who.uid != who->uid ||
	    e->primary != primary || (!primary && e->who.gid != who->gid))
		return false;
	*who = e->who;
	return true;
}

void groups_keep(struct groups *groups, const struct admitted *who,
		 bool primary)
{
	groups->kept[who->uid % GROUPS_KEPT] = (struct groups_entry){
		clock_after_ms(GROUPS_KEEP_MS), primary, *who
	};
}
