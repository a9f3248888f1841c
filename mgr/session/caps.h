/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * caps.h - capabilities for what sessions open.  A session that has opened a file keeps
 * its rights until it ends, whatever the mode of the file becomes.  So RENEW checks
 * only the old capability, and whether the client's host may still write.
 */
#ifndef CAPS_H
#define CAPS_H

#include "mgr/request/request_op.h"

/*
 * Ends the reply with a capability for what was opened with these WIRE_O_*, if the
 * client knows capabilities and the file can need one.  Nothing may follow it in the
 * reply.  -ENOMEM
 */
int caps_put(struct mgr_op *op, const struct wire_attr *attr, uint32_t flags);

/*
 * Rebuilds the stored reply of such an open, which has no capability, with a new
 * capability.  The original one may be of a key or a manager that is no longer valid.
 * -EIO, -ENOMEM
 */
int caps_rebuild_reply(struct mgr_op *op, const struct reply_rec *rec);

/* The time at which a capability that is issued now expires, clock_boot(). */
uint64_t caps_expiry(const struct mgr *mgr);

/* The session had capabilities and ended without a fence: tells the iods to reject them. */
void caps_session_ended(struct mgr *mgr, uint64_t session);

op_fn op_renew;

#endif
