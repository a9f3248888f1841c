/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * caps.h - capabilities for what sessions open.  Who opened a file keeps his rights as
 * long as his session lasts, whatever becomes of the file's mode: so RENEW looks at
 * the old capability, and at whether that host may still write, alone.
 */
#ifndef CAPS_H
#define CAPS_H

#include "mgr/request/op.h"

/*
 * Ends the reply with a capability for what was opened with these WIRE_O_*, if the
 * client knows what that is and it can be wanted.  Nothing is put behind it.  -ENOMEM
 */
int caps_put(struct op *op, const struct wire_attr *attr, uint32_t flags);

/*
 * The reply to such an open, kept without one, and one from now on: what was made the
 * first time may be of a key or a manager that does not count any more.  -EIO, -ENOMEM
 */
int caps_again(struct op *op, const struct reply_rec *rec);

/* One that is given now ends then, clock_boot(). */
uint64_t caps_expiry(const struct mgr *mgr);

/* The session that had some ends, without a fence: so do they, at iods, soon. */
void caps_over(struct mgr *mgr, uint64_t session);

op_fn op_renew;

#endif
