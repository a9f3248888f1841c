/* SPDX-License-Identifier: BSD-2-Clause */
/* req_rig.c - see req_rig.h. */
#include "tests/unit/req_rig.h"

#include "common/comm/serve/conn_int.h"

static struct rpc_server server;
static struct server_thread thread = { .server = &server };
static struct conn conn = { .thread = &thread };
static struct rpc_session session;
static struct wire_hdr hdr;
static struct rx rx[REQ_RIG_MAX];

void req_rig_open(void *priv)
{
	session.info.priv = priv;
	for (unsigned int i = 0; i < REQ_RIG_MAX; i++) {
		rx[i] = (struct rx){ .conn = &conn };
		rx[i].req.session = &session;
		rx[i].req.msg.hdr = &hdr;
		rx[i].req.deadline = CLOCK_NEVER;
	}
}

struct rpc_req *req_rig_get(unsigned int i)
{
	return &rx[i].req;
}
