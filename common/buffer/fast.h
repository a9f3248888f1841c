/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fast.h - Fast RDMA buffers of a connection.
 *
 * Registering memory, or an RDMA Read, costs more than copying a few KiB. So each end of a
 * connection has some buffers that are registered in advance, and the other end knows where they
 * are (PVFS over InfiniBand, ICPP 2003, section 4.1.2):
 *
 *   a small write   The client RDMA-Writes request and data, with the buffer's number as the
 *                   immediate, into a buffer of the server. If the data is registered
 *                   (rail_mem_find()), it is sent from its place; else it is first copied to the
 *                   client's own buffer.
 *   a small read    The server RDMA-Writes the data into the client's memory if that is
 *                   registered, else into a buffer of the client.
 *
 * struct fast has our own buffers. fast_open() creates them at the first use, fast_close() ends
 * them with the connection. fast_place() is what the other end must know. struct fast_peer is what
 * the other end told us: check it with fast_peer_set(); clear it with the connection.
 *
 * The client chooses a buffer: fast_take() returns its number. The number stands for the buffers of
 * both ends from the request until the reply, also the reply to a call that was given up. Then
 * fast_give() frees it. No other flow control is needed.
 *
 * The other end can write to a buffer at any time. Data that is checked before use must be copied
 * out first: the request, but not the payload.
 *
 * A budget limits the bytes of all connections of a process; a connection that gets no buffers
 * works without them. Any thread may use a budget; the rest belongs to one thread.
 */
#ifndef FAST_H
#define FAST_H

#include <stdatomic.h>

#include "common/buffer/rail.h"

#define FAST_COUNT 4u /* most buffers of a connection */
#define FAST_DATA (64u << 10) /* bytes of payload */
/* includes the request, which precedes the payload */
#define FAST_SIZE (FAST_DATA + (8u << 10))

struct fast_budget {
	size_t max; /* bytes */
	atomic_size_t used;
	atomic_uint refused; /* connections that got no buffers */
};

struct fast; /* our own buffers */

/* Where buffers are; sent to the other end. */
struct fast_place {
	uint64_t addr; /* of the first; the others follow it */
	uint32_t rkey;
	uint32_t size; /* bytes of each */
	uint32_t count;
};

/* The other end's buffers; all zero: it has none. */
struct fast_peer {
	struct fast_place place;
};

/*
 * Creates FAST_COUNT buffers of FAST_SIZE bytes, registered with one rail. budget may be NULL, else
 * it outlives them. only: if the rail can enforce it, only the peer of that endpoint can write
 * there; send the place over that endpoint. NULL: every holder of the key can write. -ENOBUFS: the
 * budget is used up; -ENOMEM, or as tp_mr_reg() and tp_mr_only().
 */
int fast_open(const struct rails *rails, unsigned int rail,
	      struct fast_budget *budget, struct tp_ep *only,
	      struct fast **fast);
/* NULL is allowed. */
void fast_close(struct fast *fast);
void fast_place(const struct fast *fast, struct fast_place *place);
/* Buffer i, below FAST_COUNT; its gather entry uses fast_lkey(). */
void *fast_buf(const struct fast *fast, unsigned int i);
uint32_t fast_lkey(const struct fast *fast);
uint32_t fast_rkey(const struct fast *fast);

/* Stores what the other end sent. -EINVAL: invalid; nothing changes. */
int fast_peer_set(struct fast_peer *peer, const struct fast_place *place);
/* The address of buffer i at the other end. */
uint64_t fast_peer_addr(const struct fast_peer *peer, unsigned int i);

/* For the client: marks a number below count as busy and returns it. -1: all are busy. */
int fast_take(uint32_t *busy, unsigned int count);
void fast_give(uint32_t *busy, unsigned int i);

#endif
