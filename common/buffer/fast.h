/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fast.h - Fast RDMA buffers of a connection.
 *
 * Registering memory, or an RDMA Read, costs more than copying a few KiB. So each end of a
 * connection registers some buffers in advance, and tells the other end their address (PVFS over
 * InfiniBand, ICPP 2003, section 4.1.2):
 *
 *   a small write   The client RDMA-Writes request and data, with the buffer's number as the
 *                   immediate, into a buffer of the server. If the caller's memory is registered
 *                   (rail_mem_find()), the client sends the data from there. Otherwise it copies
 *                   the data to its own buffer first.
 *   a small read    The server RDMA-Writes the data into the caller's memory if that is
 *                   registered, and otherwise into a buffer of the client.
 *
 * struct fast has the buffers of this end. fast_open() creates them at the first use, and
 * fast_close() frees them when the connection ends. fast_place() returns their address for the
 * other end. struct fast_peer has the address of the other end's buffers, which fast_peer_set()
 * checks. The caller clears struct fast_peer when the connection ends.
 *
 * The client chooses a buffer: fast_take() returns a number, which stands for one buffer at each
 * end. Both buffers are in use from the request until the reply, even if the call times out before.
 * Then fast_give() frees them. There is no other flow control.
 *
 * The other end can write to a buffer at any time. So a request must be copied out of the buffer
 * before it is checked. The payload, which is not checked, need not be copied.
 *
 * A budget limits the bytes of the buffers of all connections of a process. A connection that gets
 * no buffers works without them. Any thread may use a budget; one thread at a time may use
 * everything else.
 */
#ifndef FAST_H
#define FAST_H

#include <stdatomic.h>

#include "common/buffer/rail.h"

#define FAST_COUNT 4u /* largest number of buffers of a connection */
#define FAST_DATA (64u << 10) /* bytes of payload in a buffer */
/* bytes of a buffer: the request, then the payload */
#define FAST_SIZE (FAST_DATA + (8u << 10))

struct fast_budget {
	size_t max; /* largest sum of bytes of all buffers */
	atomic_size_t used;
	atomic_uint refused; /* number of connections that got no buffers */
};

struct fast; /* the buffers of this end */

/* Where buffers are; sent to the other end. */
struct fast_place {
	uint64_t addr; /* address of the first buffer; the others follow */
	uint32_t rkey;
	uint32_t size; /* bytes of each buffer */
	uint32_t count;
};

/* The other end's buffers. All zero if it has none. */
struct fast_peer {
	struct fast_place place;
};

/*
 * Creates FAST_COUNT buffers of FAST_SIZE bytes, registered with one rail. budget must outlive
 * them; NULL means no limit. If `only` is not NULL and the rail supports it (tp_mr_only()), only
 * the peer of the endpoint `only` can write to the buffers; the caller then sends their address
 * over this endpoint. Otherwise any peer that has the key can write. Returns 0; -ENOBUFS if the
 * budget is used up; -ENOMEM; or an error of tp_mr_reg() or tp_mr_only().
 */
int fast_open(const struct rails *rails, unsigned int rail,
	      struct fast_budget *budget, struct tp_ep *only,
	      struct fast **fast);
/* fast may be NULL. */
void fast_close(struct fast *fast);
void fast_place(const struct fast *fast, struct fast_place *place);
/* Returns buffer i, below FAST_COUNT. Its gather entry uses fast_lkey(). */
void *fast_buf(const struct fast *fast, unsigned int i);
uint32_t fast_lkey(const struct fast *fast);
uint32_t fast_rkey(const struct fast *fast);

/*
 * Stores the place of the other end's buffers, which the other end has sent. Returns -EINVAL and
 * changes nothing if the place is invalid.
 */
int fast_peer_set(struct fast_peer *peer, const struct fast_place *place);
/* Returns the address of buffer i at the other end. */
uint64_t fast_peer_addr(const struct fast_peer *peer, unsigned int i);

/*
 * For the client: marks a free buffer number below count as busy and returns it, or returns -1 if
 * all are busy.
 */
int fast_take(uint32_t *busy, unsigned int count);
void fast_give(uint32_t *busy, unsigned int i);

#endif
