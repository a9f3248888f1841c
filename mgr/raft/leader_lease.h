/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * leader_lease.h - how long a leader may answer requests without asking the other members.
 *
 * A follower that accepts an AppendEntries neither votes for another member nor stands for election
 * for one election timeout.  So if a majority accepted messages of this term that were sent at or
 * after t, no other member can lead before t + election timeout.  The leader counts from the moment
 * of sending, on its own clock (CLOCK_BOOTTIME).  It counts only three quarters of the timeout,
 * because the speeds of two clocks may differ by a quarter.
 *
 * libraft has no such lease.  Each AppendEntries carries its time of sending as a stamp
 * (peer_message.h).  The follower returns the newest stamp that it has accepted in the term.
 */
#ifndef LEADER_LEASE_H
#define LEADER_LEASE_H

#include <stdbool.h>
#include <stdint.h>

#include "mgr/raft/member_list.h"

struct leader_lease {
	uint64_t length; /* ns */
	uint64_t since; /* the leader's clock, before its first message of the term */
	/*
	 * The newest stamp that each member returned; id 0: an unused slot.  A new member gets the
	 * slot with the oldest stamp, which may be that of a removed member.
	 */
	struct {
		uint64_t id, stamp;
	} acks[MEMBERS_MAX];
};

static inline uint64_t lease_length(unsigned int election_ms)
{
	return (uint64_t)election_ms * 750000u;
}

/* A new term began.  now: the clock before the first message of the term was sent. */
void lease_begin(struct leader_lease *lease, unsigned int election_ms,
		 uint64_t now);
/* Member id returned a stamp.  Stamps from before the term, or from the future, are ignored. */
void lease_ack(struct leader_lease *lease, uint64_t id, uint64_t stamp,
	       uint64_t now);
/* The newest stamp that member id returned in this term; 0: none. */
uint64_t lease_acked(const struct leader_lease *lease, uint64_t id);
/*
 * When the lease of member self ends, on its own clock; 0: it has no lease.  conf: the newest
 * configuration of the group.
 */
uint64_t lease_end(const struct leader_lease *lease,
		   const struct raft_configuration *conf, uint64_t self,
		   uint64_t now);

#endif
