/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * caps.h - capabilities for the files that sessions open.  A session that has opened a file
 * keeps its rights until the session ends, whatever the mode of the file becomes.  So RENEW
 * checks only the old capability, and whether the client's host may still write
 * (read_only).
 */
#ifndef CAPS_H
#define CAPS_H

#include "mgr/request/request_op.h"

/*
 * Ends the reply of op with a capability for the file of attr, which was opened with flags
 * (WIRE_O_*).  Does nothing if the client does not know capabilities, or the file needs
 * none.  The caller adds nothing more to the reply.  -ENOMEM
 */
int caps_put(struct mgr_op *op, const struct wire_attr *attr, uint32_t flags);

/*
 * Builds the reply of op from the stored reply rec of an open, with a new capability.
 * (Stored replies have none, because the key or the manager of the first one may not be
 * valid any more.)  -EIO: the stored reply is damaged; -ENOMEM
 */
int caps_rebuild_reply(struct mgr_op *op, const struct reply_rec *rec);

/* Returns when a capability that is issued now expires, clock_boot(). */
uint64_t caps_expiry(const struct mgr *mgr);

/*
 * Call it for a session with capabilities that ended without a fence: makes the iods reject
 * them.
 */
void caps_session_ended(struct mgr *mgr, uint64_t session);

op_fn op_renew;

#endif
