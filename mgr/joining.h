/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * joining.h - how this manager becomes a member of the group, and keeps its connections to
 * the other members up to date.
 *
 * A member id identifies a storage directory, not a host: an empty storage gets a new random id,
 * because it has forgotten how the old member voted.
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
 * Asks the other managers for their group, repeatedly.  Returns 1: *group is the group of a
 * manager that answered, and has a leader.  Returns 0: there is no such group, and this manager
 * founds one.  Only the first manager of the configuration founds a group.  If its storage is
 * empty, it first waits up to 10 s while others may be in a group.  -ECANCELED: mgr->stop is
 * set.
 */
int joining_find_group(struct mgr *mgr, bool empty, uint64_t *group);

/*
 * Call it after the group and the peers are open. Returns 0; -EIO if this member has lost its log,
 * which is logged; or -ENOMEM.
 */
int joining_open(struct mgr *mgr);
/* Writes the address of a member to uri[ADDR_STRLEN]. Returns -ENOENT if it is unknown. */
int joining_find_address(const struct mgr *mgr, uint64_t id, char *uri);
/* Call it before the group is closed. */
void joining_close(struct mgr *mgr);

#endif
