/* SPDX-License-Identifier: BSD-2-Clause */
/* rpc_req.h - a request as the service sees it, and its reply; part of rpc.h. */
#ifndef RPC_REQ_H
#define RPC_REQ_H

/* Tables with their comments in columns: laid out by hand. */
/* clang-format off */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/trust/handshake.h"
#include "common/transport/transport.h"
#include "common/wire/wire.h"

struct rpc_session;

/*
 * A request.  msg and all that it points to stay valid until rpc_reply_send() or rpc_req_abort(),
 * also if the connection breaks.
 */
struct rpc_req {
	struct wire_msg msg;
	unsigned int op;
	unsigned int slot;
	uint64_t seq;
	/* When the client stops waiting, at most RPC_WAIT_MAX_MS after the arrival. */
	uint64_t deadline;
	/*
	 * The same on clock_boot().  After it, the client may have reported that the request
	 * failed.
	 */
	uint64_t expiry;
	/* WIRE_F_ANEW: an earlier server process may have executed it */
	bool anew;
	struct rpc_session *session;
	void *priv;			/* belongs to the service */
};

/* Maximum wait, whatever a client asks for. */
#define RPC_WAIT_MAX_MS (25u * 3600 * 1000)
/*
 * Whether the expiry has passed.  Then no change may begin.  Call it immediately before a change;
 * if it returns true, answer -ETIMEDOUT.
 */
bool rpc_req_late(const struct rpc_req *req);
/*
 * A request that waits for another server, a disk or a lease keeps a slot of its client.  The
 * client uses only some of its slots for such requests.  If rpc_req_may_wait() is false, this
 * request is not one of those.  It may wait only until rpc_req_patience() (clock_now()).  If it
 * was not executed by then, answer -EINPROGRESS.  The client sends it again, as one that may wait
 * until its deadline.
 */
#define RPC_WAIT_BRIEF_MS 20u
bool rpc_req_may_wait(const struct rpc_req *req);
uint64_t rpc_req_patience(const struct rpc_req *req);
/*
 * Closes the connection of the request if it is still there.  Then its bulks no longer access
 * memory.  Calls done() for the bulks of all requests on that connection.
 */
void rpc_req_cut(struct rpc_req *req, int status);

/*
 * The data of a WRITE that came with it, all that mem names; NULL: it did not come with it.  The
 * client can change it at any time.
 */
const void *rpc_req_data(const struct rpc_req *req);
/*
 * rpc_req_identity(): the identity of the client that its kernel reports (tp_ep_identity()).
 * rpc_req_pass(): sends descriptors before the reply (tp_ep_pass()).  Both return -ENOTCONN if
 * the connection of the request is gone.
 */
int rpc_req_identity(const struct rpc_req *req, struct tp_identity *id);
int rpc_req_pass(struct rpc_req *req, const int *fd, unsigned int n);
/*
 * rpc_req_epoch(): of the connection of the request; 0: its session has another connection now,
 * or none.  rpc_req_admit(): from now on, the session belongs to *who, and can be resumed only
 * with a ticket or the identity from the kernel.  It returns 0; -ESTALE: the session has another
 * connection; -EAGAIN, -EBUSY, -WIRE_ENOSEATS, -WIRE_ENOFILES: there is no place for it.
 */
uint32_t rpc_req_epoch(const struct rpc_req *req);
int rpc_req_admit(struct rpc_req *req, const struct admitted *who);
/*
 * The connection must be sealed and is not: the client may prove its identity, and nothing else.
 */
bool rpc_req_bare(const struct rpc_req *req);
/*
 * rpc_req_here(): the mode in which the connection can be sealed in place, after an answer;
 * SEAL_NONE: it cannot.  rpc_reply_seal(): calls rpc_reply_send(), and then seals the connection
 * with the sealer from here.  If that fails, the connection ends.
 */
enum seal_mode rpc_req_here(const struct rpc_req *req);
void rpc_reply_seal(struct rpc_req *req, const struct here *here);
/* The rail of the ctx that its bulk data uses. */
unsigned int rpc_req_rail(const struct rpc_req *req);

/*
 * Builds the reply in the buffer of the slot.  rpc_reply_begin() returns a wire_out (wire_begin()
 * is done).  rpc_reply_end() finishes it with status (0, -errno or WIRE_REDIRECT).
 * rpc_reply_bytes() returns its bytes (for a durable reply cache).  rpc_reply_send() posts it and
 * frees req.
 *
 * Flags of rpc_reply_end(): RPC_REEXECUTE: a replay executes again (reads).  RPC_WHOLE: a read
 * with status 0 gave all its bytes to rpc_bulk_start(), and the object continues after them.  A
 * client that asks for it (WIRE_F_WHOLE) then needs no reply, only the arrival of the data.
 */
#define RPC_REEXECUTE 0x1u
#define RPC_WHOLE 0x2u
struct wire_out *rpc_reply_begin(struct rpc_req *req);
void rpc_reply_end(struct rpc_req *req, int status, unsigned int flags);
/*
 * Between the two, after the last part of body and tail: the reply ends with a struct wire_caps.
 */
void rpc_reply_caps(struct rpc_req *req);
const void *rpc_reply_bytes(const struct rpc_req *req, size_t *len);
void rpc_reply_send(struct rpc_req *req);
/* rpc_reply_begin(), _end() and _send() for a reply without a body. */
void rpc_reply_status(struct rpc_req *req, int status);
/*
 * Not executed, as if never received, because the connection broke while data of the request was
 * in flight.  A replay executes again.  Frees req.
 */
void rpc_req_abort(struct rpc_req *req);

/*
 * Where the time of a request is spent, for the log line about a slow one.  The request is in the
 * last of these parts that it entered and did not leave, else in RPC_OTHER.  Uses the time that
 * the context has read already.  Call it from the thread of the session, before the answer.
 */
enum rpc_part { RPC_OTHER, RPC_QUEUE, RPC_BUFFER, RPC_NETWORK, RPC_DISK, RPC_FLUSH,
		RPC_PARTS };
void rpc_req_enter(struct rpc_req *req, enum rpc_part part);
void rpc_req_leave(struct rpc_req *req, enum rpc_part part);
/*
 * As rpc_req_leave(), but the time until began (clock_now()) counts as RPC_QUEUE.  began 0: none
 * does.
 */
void rpc_req_leave_from(struct rpc_req *req, enum rpc_part part, uint64_t began);
/* The request waits because its client wants that: it does not count as slow. */
void rpc_req_unhurried(struct rpc_req *req);

#endif
