/* SPDX-License-Identifier: BSD-2-Clause */
/* rpc_req.h - a request as the service sees it, and its reply; part of rpc.h. */
#ifndef RPC_REQ_H
#define RPC_REQ_H

/* Tables, their comments in columns: laid out by hand. */
/* clang-format off */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/trust/handshake.h"
#include "common/transport/transport.h"
#include "common/wire/wire.h"

struct rpc_session;

/*
 * A request.  msg and everything it points to stay valid until
 * rpc_reply_send() or rpc_req_abort(), also over a broken connection.
 */
struct rpc_req {
	struct wire_msg msg;
	unsigned int op;
	unsigned int slot;
	uint64_t seq;
	uint64_t deadline;		/* when the client stops to wait, at most
					 * RPC_WAIT_MAX_MS from its arrival */
	uint64_t expiry;		/* the same on clock_boot(): from then on it
					 * may have been told that this failed */
	bool anew;			/* WIRE_F_ANEW: what an earlier server has
					 * perhaps done */
	struct rpc_session *session;
	void *priv;			/* the service's */
};

/* What nobody waits longer for, whatever a client says. */
#define RPC_WAIT_MAX_MS (25u * 3600 * 1000)
/*
 * Its expiry has passed: what changes something must not begin any more.  To be asked
 * immediately before that; -ETIMEDOUT is the answer.
 */
bool rpc_req_late(const struct rpc_req *req);
/*
 * What waits for another server, a disk or a lease keeps a slot of its client, which
 * lets only some of them be used so.  False: this request is not one of those; it may wait until
 * rpc_req_patience() (clock_now()), and if it was not carried out by then the answer is
 * -EINPROGRESS: the client sends it again, as one that may wait until its deadline.
 */
#define RPC_WAIT_BRIEF_MS 20u
bool rpc_req_may_wait(const struct rpc_req *req);
uint64_t rpc_req_patience(const struct rpc_req *req);
/*
 * Ends the connection that the request came by, if it is still there: its bulks touch
 * no memory any more.  done() of those of all its requests comes from here.
 */
void rpc_req_cut(struct rpc_req *req, int status);

/*
 * The data of a WRITE that came along with it, all that mem names; NULL: it did
 * not.  The client can change it.
 */
const void *rpc_req_data(const struct rpc_req *req);
/*
 * Who asks, as its kernel says, and descriptors for it, in front of the reply:
 * tp_ep_identity(), tp_ep_pass().  -ENOTCONN: the connection that it came by is gone.
 */
int rpc_req_identity(const struct rpc_req *req, struct tp_identity *id);
int rpc_req_pass(struct rpc_req *req, const int *fd, unsigned int n);
/*
 * Of the connection that it came by; 0: its session has another one now, or none.  And
 * from now on the session is that of cred, whose name does not count, and comes back
 * with a ticket or by the kernel's word alone; -ESTALE: another connection; -EAGAIN, -EBUSY,
 * -WIRE_ENOSEATS, -WIRE_ENOFILES: there is no place for it.
 */
uint32_t rpc_req_epoch(const struct rpc_req *req);
int rpc_req_admit(struct rpc_req *req, const struct admitted *who);
/* Its connection must be sealed and is not: it may prove who it is, and nothing else. */
bool rpc_req_bare(const struct rpc_req *req);
/*
 * How it can be sealed behind an answer, as it is: SEAL_NONE, not so.  rpc_reply_seal():
 * rpc_reply_send(), and behind that it is, by the sealer that here finds.  Or it
 * ends.
 */
enum seal_mode rpc_req_here(const struct rpc_req *req);
void rpc_reply_seal(struct rpc_req *req, const struct here *here);
/* Over which of the ctx's rails its bulk data goes. */
unsigned int rpc_req_rail(const struct rpc_req *req);

/*
 * Builds the reply in the slot's buffer: rpc_reply_begin() gives a wire_out
 * (wire_begin() done), rpc_reply_end() finishes it with status (0, -errno or
 * WIRE_REDIRECT), rpc_reply_bytes() shows it (for a durable reply cache),
 * rpc_reply_send() posts it and frees req.
 * flags of rpc_reply_end(): RPC_REEXECUTE: a replay runs again (reads); RPC_WHOLE:
 * of a read, with status 0, all that it asks for was given to rpc_bulk_start(), and the
 * object goes on behind it: a client that says so (WIRE_F_WHOLE) needs no reply then
 * but that the data has arrived.
 */
#define RPC_REEXECUTE 0x1u
#define RPC_WHOLE 0x2u
struct wire_out *rpc_reply_begin(struct rpc_req *req);
void rpc_reply_end(struct rpc_req *req, int status, unsigned int flags);
/* Between the two, behind the last of the body and tail: a struct wire_caps ends it. */
void rpc_reply_caps(struct rpc_req *req);
const void *rpc_reply_bytes(const struct rpc_req *req, size_t *len);
void rpc_reply_send(struct rpc_req *req);
/* begin, end and send of a reply without a body. */
void rpc_reply_status(struct rpc_req *req, int status);
/* Not executed, as if never received: the connection broke while the
 * request's data was under way.  A replay runs again.  Frees req. */
void rpc_req_abort(struct rpc_req *req);

/*
 * Where a request's time goes, for the line about a slow one: it is in the last one of these
 * that it has entered and not left, else in RPC_OTHER.  By the clock that the context has
 * read already; from its session's thread, as long as it is not answered.
 */
enum rpc_part { RPC_OTHER, RPC_QUEUE, RPC_BUFFER, RPC_NETWORK, RPC_DISK, RPC_FLUSH,
		RPC_PARTS };
void rpc_req_enter(struct rpc_req *req, enum rpc_part part);
void rpc_req_leave(struct rpc_req *req, enum rpc_part part);
/* The same; until began, of clock_now(), it was in RPC_QUEUE.  0: it was not. */
void rpc_req_leave_from(struct rpc_req *req, enum rpc_part part, uint64_t began);
/* It waits since its client wants it to: it is not slow. */
void rpc_req_unhurried(struct rpc_req *req);

#endif
