/* SPDX-License-Identifier: BSD-2-Clause */
/* groups.c - see groups.h. */
#include "groups.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>

#include "clock.h"

#define TEXT_MAX 16384u
#define LIST_MAX 65536 /* NGROUPS_MAX of Linux */

/* More than a ticket has room for: the first ones count. */
static int ask_list(const char *name, struct admitted *who)
{
	int n = LIST_MAX, i;
	gid_t *list = calloc(LIST_MAX, sizeof(*list));

	if (!list)
		return -ENOMEM;
	getgrouplist(name, who->gid, list, &n);
	for (i = 0; i < n && i < (int)WIRE_GROUPS_MAX; i++)
		who->groups[i] = list[i];
	who->ngroups = (uint32_t)i;
	free(list);
	return 0;
}

static int ask(struct admitted *who, bool primary, char *text)
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
	return ask_list(pw.pw_name, who);
}

int groups_ask(struct admitted *who, bool primary)
{
	char *text = malloc(TEXT_MAX);
	int rc = text ? ask(who, primary, text) : -ENOMEM;

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
