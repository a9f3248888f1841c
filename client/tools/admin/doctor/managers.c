/* SPDX-License-Identifier: BSD-2-Clause */
/* managers.c - the group of managers: members that are silent, stay behind, or have no space. */
#include <inttypes.h>

#include "client/tools/admin/doctor/checks.h"
#include <pvfs.h>

/*
 * Maximum lag of a healthy follower, in log entries: the entries in flight when its status is
 * sampled.
 */
#define LAG_MOST 10000u

static void check_member(const struct doctor *d, const struct pvfs_member *m)
{
	if (!(m->flags & PVFS_MEMBER_RECENT))
		doctor_find(d,
			    "start it (systemctl status 'pvfs-mgr@*' on its "
			    "host), or repair the network to it; if its host "
			    "is lost: pvfs-managers replace",
			    "the manager %s does not answer the one that "
			    "leads",
			    m->address);
	else if (!(m->flags & PVFS_MEMBER_VOTER))
		doctor_find(d,
			    "wait for it: pvfs-managers add shows its "
			    "progress; its log says what it lacks",
			    "the manager %s has no vote yet", m->address);
	else if (m->lag > LAG_MOST)
		doctor_find(d,
			    "look at its disk (pvfs-doctor -c pvfs.conf on its "
			    "host) and at its network",
			    "the manager %s lacks %" PRIu64 " entries",
			    m->address, m->lag);
}

void check_managers(const struct doctor *d, const struct subject *s)
{
	struct pvfs_managers state;
	struct pvfs_watch *watch;

	if (!s->mgr ||
	    pvfs_watch_open(s->mount, s->uri, (int)d->timeout_s * 200, &watch))
		return; /* check_reach() reports the cause */
	if (pvfs_watch_managers(watch, PVFS_MANAGERS_STATUS, 0, &state))
		state.n = state.flags = 0; /* an earlier release */
	pvfs_watch_close(watch);
	for (unsigned int i = 0; i < state.n; i++)
		check_member(d, &state.member[i]);
	if (state.flags & PVFS_MANAGERS_LOG_FULL)
		doctor_find(d,
			    "free space in the storage of the manager that "
			    "leads",
			    "the log of the managers has no space: changes "
			    "fail");
}
