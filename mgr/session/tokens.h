/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tokens.h - what GRANT gave out and REDEEM did not take yet.  There are so many and
 * no more: the oldest is forgotten for a new one.  They do not outlive the manager.
 */
#ifndef TOKENS_H
#define TOKENS_H

#include "mgr/request/op.h"

op_fn op_grant, op_redeem;

int tokens_open(struct mgr *mgr);
void tokens_close(struct mgr *mgr);

/* -errno: there are no random numbers. */
int tokens_add(struct mgr *mgr, const struct ns_grant *grant,
	       uint8_t token[WIRE_TOKEN_LEN]);
/* NULL: there is none such, or not any more.  It stays until tokens_drop(). */
const struct ns_grant *tokens_find(struct mgr *mgr,
				   const uint8_t token[WIRE_TOKEN_LEN]);
void tokens_drop(struct mgr *mgr, const struct ns_grant *grant);

#endif
