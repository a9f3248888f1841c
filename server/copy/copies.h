/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * copies.h - bytes that go from one object to another, of this iod or of two: the one
 * that is written reads at the other as a client does.
 *
 * Each worker has a few buffers for that, of its own: were they those of transfers, two
 * iods that copy from each other could keep each other waiting for ever.  Sessions take
 * turns in them, and may use two at a time, so that one is read while another is
 * written (ICPP 2003, section 3.3: network and file access overlap).
 */
#ifndef COPIES_H
#define COPIES_H

#include <stdint.h>

struct copies;
struct iod_session;
struct rpc_req;
struct worker;

/* The operation COPY. */
void op_copy(struct worker *w, struct rpc_req *req);

/* Takes no memory for buffers before the first copy.  -ENOMEM. */
int copies_open(struct worker *w, struct copies **copies);
/* What is under way is forgotten; it may be NULL. */
void copies_close(struct copies *copies);
/* Ends those of the session with status, soon. */
void copies_stop(struct copies *copies, const struct iod_session *ses,
		 int status);

#endif
