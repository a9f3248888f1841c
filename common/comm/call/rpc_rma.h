/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rpc_rma.h - one-sided access (RMA) to words of a server, part of rpc.h.
 *
 * A server sends a client the address of a word in a message.  From then on, the client reads the
 * word by RDMA Read, or adds to it by an RDMA atomic.  If the transport has TP_ALONE, no thread of
 * the server wakes up for that.  The address is valid only on the connection on which it was
 * sent, until the server withdraws it.  An access to a withdrawn word fails and breaks the
 * connection.
 */
#ifndef RPC_RMA_H
#define RPC_RMA_H

#include <stdint.h>

#include "common/comm/call/rpc_call.h"

#define RPC_RMA_MAX 4160u /* maximum bytes of one READ */

/* The caller owns it and keeps it until done(). */
struct rpc_rma {
	enum tp_opcode op; /* TP_READ, TP_FETCH_ADD */
	uint64_t addr; /* address of the word at the server */
	uint32_t rkey;
	uint32_t term; /* rpc_peer_term() when the address was received */
	uint32_t len; /* for a READ, the bytes to read */
	uint64_t add; /* for a FETCH_ADD, the number to add */
	uint64_t deadline; /* absolute; never CLOCK_NEVER */
	void (*done)(struct rpc_rma *rma);
	void *arg;

	/*
	 * Results. 0: data is the earlier content of the word, valid until done() returns. -EACCES:
	 * the server has withdrawn the word, and nothing was done. -ECONNABORTED, -ETIMEDOUT: it is
	 * unknown whether the operation was executed.
	 */
	int status;
	const void *data;

	struct { /* private */
		struct rpc_peer *peer;
		struct rpc_timer timer;
		TAILQ_ENTRY(rpc_rma) link;
		unsigned int slot;
	} p;
};

/* Returns a number that identifies the present connection, for rpc_rma.term. */
uint32_t rpc_peer_term(const struct rpc_peer *peer);
/*
 * Starts an operation. Returns 0 if the peer calls done() later; it never does so inside this
 * function. All other results mean that nothing was started: -ESTALE if the connection rma->term is
 * closed; -EBUSY if too many operations are in progress; -EINVAL if rma->len is above RPC_RMA_MAX;
 * -ENOMEM; or an error of tp_post_send().
 */
int rpc_rma_start(struct rpc_peer *peer, struct rpc_rma *rma);

#endif
