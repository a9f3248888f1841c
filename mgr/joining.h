/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * joining.h - how this manager becomes a member of the group, and follows who the others are.
 *
 * A member is a storage, not a host: an empty storage gets a new random id, because it has forgotten the
 * votes of the old one.
 *
 * 	no member in the storage   joining_find_group(): asks the other managers for their group
 * 	not in the group           JOIN, again and again, until the group gives it a vote
 * 	in the group               the connections follow the members that the log names
 */
#ifndef JOINING_H
#define JOINING_H

#include "mgr/state/mgr_state.h"

/* Sets ctx, log, fsid, prover and seal, for peers_open() and peers_connect(). */
struct peers_attr;
void joining_peers_attr(const struct mgr *mgr, struct peers_attr *attr);

/*
 * Finds the group that this manager belongs to.  Returns 1: *group is one that another manager is in, and
 * that has a leader.  0: there is none, and this manager founds one, because it is the first of the
 * configuration.  -ECANCELED: mgr->stop.  Waits until another manager answers, unless it is the first.  The
 * first one, if its storage is empty, waits at most 10 s for others that may be in a group.
 */
int joining_find_group(struct mgr *mgr, bool empty, uint64_t *group);

/* After the group and the peers.  -EIO, logged: this member has lost its log.  -ENOMEM. */
int joining_open(struct mgr *mgr);
/* The address of a member, in uri[ADDR_STRLEN].  -ENOENT: unknown. */
int joining_find_address(const struct mgr *mgr, uint64_t id, char *uri);
/* Before the group is closed. */
void joining_close(struct mgr *mgr);

#endif
