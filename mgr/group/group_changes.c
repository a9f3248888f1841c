/* SPDX-License-Identifier: BSD-2-Clause */
/* group_changes.c - changes of the group, which the leader makes one at a time. */
#include <errno.h>
#include <string.h>

#include "mgr/group/group_int.h"

static void on_changed(void *arg, int rc)
{
	struct mgr_group *g = arg;
	member_done removed = g->removed;

	g->changes = false;
	g->removed = NULL;
	if (rc)
		log_warn(g->attr.log, "the change of the managers: %s%s",
			 strerror(-rc),
			 rc == -ETIMEDOUT
				 ? "; the new manager is too slow, and "
				   "has no vote yet"
				 : "");
	if (removed)
		removed(g->removed_arg, rc);
}

/* changes is set before, because the change may end at once. */
static int begin_change(struct mgr_group *g)
{
	if (g->state != GROUP_LEADS)
		return -ENOTCONN;
	if (g->changes)
		return -EBUSY;
	g->changes = true;
	return 0;
}

int mgr_group_add(struct mgr_group *g, const struct member_address *new)
{
	int rc = begin_change(g);

	if (rc)
		return rc;
	rc = member_add(g->member, new, on_changed, g);
	if (rc)
		g->changes = false;
	return rc;
}

int mgr_group_promote(struct mgr_group *g, uint64_t id)
{
	int rc = begin_change(g);

	if (rc)
		return rc;
	rc = member_promote(g->member, id, on_changed, g);
	if (rc)
		g->changes = false;
	return rc;
}

int mgr_group_remove(struct mgr_group *g, uint64_t id, member_done done,
		     void *arg)
{
	int rc = begin_change(g);

	if (rc)
		return rc;
	g->removed = done;
	g->removed_arg = arg;
	rc = member_remove(g->member, id, on_changed, g);
	if (rc) {
		g->changes = false;
		g->removed = NULL;
	}
	return rc;
}

int mgr_group_transfer(struct mgr_group *g, uint64_t to)
{
	return g->state == GROUP_LEADS ? member_transfer(g->member, to)
				       : -ENOTCONN;
}

bool mgr_group_changes(const struct mgr_group *g)
{
	return g->changes;
}
