/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * declare.h - the files that a session holds at the manager (WIRE_O_HOLD), for sessions
 * that declare them.  The manager stores them only in memory.  So the session sends them
 * to each manager process that it meets, one message after the other (DECLARE).
 *
 * The driving thread records an open when it handles the answer.  It also handles the
 * contact with a manager, so no open is missed in between.  An open is removed before its
 * RELEASE is posted.  If the RELEASE overtakes a DECLARE that names the open, the manager
 * remembers it until the DECLARE arrives.
 */
#ifndef DECLARE_H
#define DECLARE_H

#include <stdint.h>

#include "common/comm/rpc.h"

struct session;
struct declare;

/* NULL: no memory. */
struct declare *declare_new(struct session *s);
/* All calls have ended.  d may be NULL. */
void declare_free(struct declare *d);

/* Record an open and its close; with d NULL, do nothing.  -ENOMEM: it is not recorded. */
int declare_opened(struct declare *d, uint64_t handle, uint64_t open);
void declare_closed(struct declare *d, uint64_t open);
/* For struct rpc_peer_attr; its arg is a struct declare. */
void declare_met(void *arg, struct rpc_peer *peer, uint64_t boot);
/*
 * Called after the manager has authenticated the session: it ignored what was declared at
 * the first contact.  Nothing is open yet.  After a failure, the manager stores rows, as
 * for sessions that do not declare.
 */
void declare_proved(struct session *s);

#endif
