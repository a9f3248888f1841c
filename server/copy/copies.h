/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * copies.h - the operation COPY: copies bytes from one object to another, of this iod or of two.
 * The iod that writes reads from the other one as a client does.
 *
 * Each worker has a few buffers of its own for this.  If copies used the buffers of transfers,
 * two iods that copy from each other could block each other.
 *
 * Sessions take turns.  A session uses at most two buffers: it reads into one and writes from the
 * other, so network and file access overlap (ICPP 2003, section 3.3).
 *
 * Only the worker's thread calls these functions; there are no locks.
 */
#ifndef COPIES_H
#define COPIES_H

#include <stdint.h>

struct copies;
struct iod_session;
struct rpc_req;
struct worker;

/* Starts the operation COPY; replies now or later.  Errors go into the reply. */
void op_copy(struct worker *w, struct rpc_req *req);

/* Allocates no buffers before the first copy.  -ENOMEM. */
int copies_open(struct worker *w, struct copies **copies);
/* Drops running copies without a reply.  NULL: nothing happens. */
void copies_close(struct copies *copies);
/* Ends the copies of the session with this status as soon as their file accesses end. */
void copies_stop_session(struct copies *copies, const struct iod_session *ses,
			 int status);

#endif
