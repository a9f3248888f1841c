/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * copies.h - the operation COPY: copies bytes from one object to another, of this iod or of two.
 * The iod that writes reads from the other one as a client does.
 *
 * Each worker has a few buffers of its own for this.  If copies used the buffers of transfers,
 * two iods that copy from each other could block each other.
 *
 * Sessions take turns at these buffers.  A session uses at most two: one is filled from the source
 * while the other one is written to the target, so network and file access overlap (ICPP 2003,
 * section 3.3).
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

/*
 * Makes the state of the worker's copies, which the caller closes.  The buffers are allocated at
 * the first copy.  -ENOMEM.
 */
int copies_open(struct worker *w, struct copies **copies);
/* Call it after iod_peers_close().  Drops running copies without a reply.  NULL: nothing happens. */
void copies_close(struct copies *copies);
/*
 * Ends the copies of the session.  Each is answered with status (-errno) once its file accesses
 * have ended.
 */
void copies_stop_session(struct copies *copies, const struct iod_session *ses,
			 int status);

#endif
