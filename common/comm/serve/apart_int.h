/* SPDX-License-Identifier: BSD-2-Clause */
/* apart_int.h - bulk data of a connection over an endpoint of its own. */
#ifndef APART_INT_H
#define APART_INT_H

#include "common/comm/progress/ctx.h"

struct conn;
struct lane;
struct mail;

/*
 * apart.c: bulk data over an endpoint of its own, which the client has made with a JOIN
 * (WIRE_F_APART).  It ends with the connection, and the connection with it.
 */
/* In the answer to HELLO: room for what a JOIN shows, and that.  False: none. */
bool apart_offer(struct conn *conn);
bool apart_wants(const struct mail *mail);
/* Takes mail->req, or -ESTALE: it does not belong to the connection. */
int apart_accept(struct lane *lane, const struct mail *mail);
/* Where bulk data goes; it may have to wait for apart_ready(). */
struct link *apart_link(const struct conn *conn);
bool apart_ready(const struct conn *conn);
void apart_close(struct conn *conn);
void apart_free(struct conn *conn);

#endif
