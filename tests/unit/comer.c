/* SPDX-License-Identifier: BSD-2-Clause */
/* comer.c - see comer.h. */
#include "tests/unit/comer.h"

#include <check.h>
#include <stdlib.h>

#include "common/comm/serve/conn_int.h"

struct comer {
	struct rpc_session session;
	struct conn conn; /* the session's connection has ended */
	struct rx rx;
};

struct comer *comer_new(const struct rpc_cred *cred, void *priv)
{
	struct comer *c = calloc(1, sizeof(*c));

	ck_assert_ptr_nonnull(c);
	c->session.info.cred = *cred;
	c->session.info.priv = priv;
	c->rx.conn = &c->conn;
	c->rx.req.session = &c->session;
	return c;
}

struct rpc_req *comer_req(struct comer *comer)
{
	return &comer->rx.req;
}
