/* SPDX-License-Identifier: BSD-2-Clause */
/* adopt.h - ADOPT and ADOPTED, and requests that wait for the end of a session. */
#ifndef ADOPT_H
#define ADOPT_H

#include "mgr/request/request_op.h"

op_fn op_adopt, op_adopted;

/* -ENOMEM */
int adopts_open(struct mgr *mgr);
void adopts_close(struct mgr *mgr);
/*
 * A session has ended: lets the requests that wait for that check again.  adopts_run()
 * then puts them into the queues of their users.
 */
void adopts_wake(struct mgr *mgr);
void adopts_run(struct mgr *mgr);

#endif
