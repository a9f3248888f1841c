/* SPDX-License-Identifier: BSD-2-Clause */
/* leader_lease.c - see leader_lease.h. */
#include "mgr/raft/leader_lease.h"

#include <stdlib.h>
#include <string.h>

void lease_begin(struct leader_lease *lease, unsigned int election_ms,
		 uint64_t now)
{
	memset(lease, 0, sizeof(*lease));
	lease->length = lease_length(election_ms);
	lease->since = now;
}

void lease_ack(struct leader_lease *lease, uint64_t id, uint64_t stamp,
	       uint64_t now)
{
	unsigned int place = 0;

	if (stamp < lease->since || stamp > now)
		return;
	for (unsigned int i = 0; i < MEMBERS_MAX; i++) {
		if (lease->acks[i].id == id) {
			place = i;
			break;
		}
		if (lease->acks[i].stamp < lease->acks[place].stamp)
			place = i;
	}
	if (stamp <= lease->acks[place].stamp)
		return;
	lease->acks[place].id = id;
	lease->acks[place].stamp = stamp;
}

uint64_t lease_acked(const struct leader_lease *lease, uint64_t id)
{
	for (unsigned int i = 0; i < MEMBERS_MAX; i++)
		if (lease->acks[i].id == id)
			return lease->acks[i].stamp;
	return 0;
}

static int newest_first(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x < *y) - (*x > *y);
}

uint64_t lease_end(const struct leader_lease *lease,
		   const struct raft_configuration *conf, uint64_t self,
		   uint64_t now)
{
	const struct raft_server *me = member_list_find(conf, self);
	uint64_t stamps[MEMBERS_MAX];
	unsigned int n = 0;

	if (!me || me->role != RAFT_VOTER || conf->n > MEMBERS_MAX)
		return 0;
	for (unsigned int i = 0; i < conf->n; i++)
		if (conf->servers[i].role == RAFT_VOTER)
			stamps[n++] =
				conf->servers[i].id == self
					? now
					: lease_acked(lease,
						      conf->servers[i].id);
	qsort(stamps, n, sizeof(*stamps), newest_first);
	/* The oldest stamp of the newest majority. */
	return stamps[n / 2] ? stamps[n / 2] + lease->length : 0;
}
