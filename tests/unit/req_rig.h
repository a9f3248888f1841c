/* SPDX-License-Identifier: BSD-2-Clause */
/* req_rig.h - requests of one session, as the rpc layer passes them on, without a connection. */
#ifndef REQ_RIG_H
#define REQ_RIG_H

#include "common/comm/rpc.h"

#define REQ_RIG_MAX 16u

/* The requests have no deadline.  priv is that of the session. */
void req_rig_open(void *priv);
struct rpc_req *req_rig_get(unsigned int i);

#endif
