/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * declare.h - the files that a session holds at the manager (WIRE_O_HOLD).  The manager stores
 * the holds of a session with session_attr.declares in memory only.  So the session sends its
 * list of held files, in DECLARE messages, to each manager process to which it connects.
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

/*
 * Record that a file was opened to be held, or closed; open is its open id.  If d is NULL, they
 * do nothing.  Return 0, or -ENOMEM: the open is not recorded.
 */
int declare_opened(struct declare *d, uint64_t handle, uint64_t open);
void declare_closed(struct declare *d, uint64_t open);
/* For struct rpc_peer_attr; its arg is a struct declare. */
void declare_met(void *arg, struct rpc_peer *peer, uint64_t boot);
/*
 * Called after the manager has authenticated the session and before a file is open: repeats the
 * declaration, because the manager ignores one that arrives before authentication.  If this
 * fails, the manager stores the holds on disk, as for sessions that do not declare.
 */
void declare_proved(struct session *s);

#endif
