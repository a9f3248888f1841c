/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * file_handover.h - open files that pass from one session to another.
 *
 * GRANT and REDEEM pass on one file by a token.  The number of tokens is limited: a new one
 * replaces the oldest.  Tokens do not survive a restart of the manager.
 *
 * With ADOPT and ADOPTED a session takes over from a previous one, which then ends as if it had
 * timed out.
 */
#ifndef FILE_HANDOVER_H
#define FILE_HANDOVER_H

#include "mgr/request/request_op.h"

op_fn op_grant, op_redeem, op_adopt, op_adopted;

int tokens_open(struct mgr *mgr);
void tokens_close(struct mgr *mgr);

/* Makes a token for the grant, which is copied.  -EIO: no random numbers are available. */
int tokens_add(struct mgr *mgr, const struct ns_grant *grant,
	       uint8_t token[WIRE_TOKEN_LEN]);
/*
 * Returns the grant of a token, which stays valid until tokens_drop() or the next tokens_add().
 * NULL: there is no such token, or it has expired.
 */
const struct ns_grant *tokens_find(struct mgr *mgr,
				   const uint8_t token[WIRE_TOKEN_LEN]);
void tokens_drop(struct mgr *mgr, const struct ns_grant *grant);

/* -ENOMEM */
int adopts_open(struct mgr *mgr);
void adopts_close(struct mgr *mgr);
/*
 * Call it when a session has ended.  The ADOPTED requests that wait for the end of a session
 * will check again: adopts_run() puts them into the queues of their users.
 */
void adopts_wake(struct mgr *mgr);
void adopts_run(struct mgr *mgr);

#endif
