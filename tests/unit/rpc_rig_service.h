/* SPDX-License-Identifier: BSD-2-Clause */
/* rpc_rig_service.h - the service of the rig. */
#ifndef RPC_RIG_SERVICE_H
#define RPC_RIG_SERVICE_H

#include "tests/unit/rpc_rig.h"

extern const struct rpc_service rig_service;
/* Called after the server was closed with requests in flight. */
void rig_service_reset(struct rig *rig);

#endif
