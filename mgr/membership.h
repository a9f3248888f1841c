/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * membership.h - a manager as one of several: its connections to the others, its member of the
 * group, and which clients it accepts.
 *
 * The connections of the other managers have sessions without a struct caller (caller.h).
 */
#ifndef MEMBERSHIP_H
#define MEMBERSHIP_H

#include "mgr/state/mgr_state.h"

/*
 * Call it after the ctx is open, and before the server is opened. May wait until another manager
 * answers, and returns -ECANCELED if mgr->stop is set meanwhile. Other errors are logged. Call
 * membership_close() also after an error.
 */
int membership_open(struct mgr *mgr);
/* Call it before the server is closed. Gives up requests that wait. */
void membership_stop(struct mgr *mgr);
/* Call it after the server is closed. */
void membership_close(struct mgr *mgr);

/*
 * Runs this manager as a member until it leads. Returns 0 if it was elected; 1 if it was stopped;
 * -ESTALE if its group has ended; -EIO if the store failed.
 */
int membership_follow(struct mgr *mgr);
/*
 * Call it when the leader stops: makes another manager lead. Waits for that for at most a second.
 * Does nothing if this manager does not lead or is the only one.
 */
void membership_hand_over(struct mgr *mgr);

/* ---- for mgr_service.c; the group is open ---- */

/* Returns whether the connection is that of another manager to this one, and not that of a tool. */
bool membership_is_manager(enum wire_role role, const struct rpc_cred *cred);
/* These are session_admit() and find_leader() of rpc_service; arg is the struct mgr. */
int membership_admit(void *arg, enum wire_role role, const char *peer,
		     const struct rpc_cred *cred);
void membership_find_leader(void *arg, struct rpc_leader *leader);
/* Answers a request of another manager. */
void membership_handle_request(struct mgr *mgr, struct rpc_req *rpc);

#endif
