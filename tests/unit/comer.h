/* SPDX-License-Identifier: BSD-2-Clause */
/* comer.h - a session of a server without a network, and one request of it. */
#ifndef COMER_H
#define COMER_H

#include "common/comm/serve/rpc_serve.h"

/* Its HELLO said cred; priv is what hangs on it.  For free(). */
struct comer;
struct comer *comer_new(const struct rpc_cred *cred, void *priv);
struct rpc_req *comer_req(struct comer *comer);

#endif
