/* SPDX-License-Identifier: BSD-2-Clause */
/* apart_int.h - apart.c: a separate endpoint for the bulk data of a connection. */
#ifndef APART_INT_H
#define APART_INT_H

#include "common/comm/progress/ctx.h"

struct conn;
struct lane;
struct mail;

/*
 * The client makes the endpoint with a JOIN (WIRE_F_APART).  It ends with the connection, and the
 * connection ends with it.
 */
/*
 * For the answer to HELLO: makes the token that a JOIN has to show.  Returns false if there is
 * none.
 */
bool apart_offer(struct conn *conn);
bool apart_wants(const struct mail *mail);
/*
 * Accepts mail->req, or returns -ESTALE if it does not belong to the connection, or -errno.
 */
int apart_accept(struct lane *lane, const struct mail *mail);
/* The link for bulk data.  It may have to wait for apart_ready(). */
struct link *apart_link(const struct conn *conn);
bool apart_ready(const struct conn *conn);
void apart_close(struct conn *conn);
void apart_free(struct conn *conn);

#endif
