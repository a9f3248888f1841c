/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * grant.h - GRANT and REDEEM, and the tokens between the two.  Their number is limited: a new one replaces the oldest.  Tokens do not survive a restart of the
 * manager.
 */
#ifndef GRANT_H
#define GRANT_H

#include "mgr/request/request_op.h"

op_fn op_grant, op_redeem;

int tokens_open(struct mgr *mgr);
void tokens_close(struct mgr *mgr);

/* -EIO: no random numbers are available. */
int tokens_add(struct mgr *mgr, const struct ns_grant *grant,
	       uint8_t token[WIRE_TOKEN_LEN]);
/* NULL: there is no such token, or it has expired.  The token stays until tokens_drop(). */
const struct ns_grant *tokens_find(struct mgr *mgr,
				   const uint8_t token[WIRE_TOKEN_LEN]);
void tokens_drop(struct mgr *mgr, const struct ns_grant *grant);

#endif
