/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fast.h - Fast RDMA buffers of a connection.
 *
 * Registering memory, or an RDMA Read, costs more than copying a few KiB.  So
 * each end of a connection has some buffers that are registered already, and
 * the other end knows where (PVFS over InfiniBand, ICPP 2003, section 4.1.2):
 *
 *   a small write   the client RDMA-Writes request and data with immediate,
 *                   the buffer's number, into one of the server's buffers:
 *                   data from where it lies if that is registered
 *                   (rail_mem_find()), else copied to its own buffer first
 *   a small read    the server RDMA-Writes the data into the client's memory
 *                   if that is registered, else into a buffer of the client's
 *
 * struct fast is one's own buffers: fast_open() when they are first useful,
 * fast_close() when the connection goes; fast_place() is what to tell the
 * other end.  struct fast_peer is what was told: check it with
 * fast_peer_set(), clear it with the connection.
 *
 * The client chooses: fast_take() gives a buffer's number, which stands for
 * the buffers of both ends from the request until the reply (also that of a
 * call which was given up), then fast_give().  No other flow control is needed.
 *
 * The other end can write to a buffer at any time.  What is checked before
 * it is used has to be copied out first: the request, not the data.
 *
 * A budget bounds the bytes of all connections of a process; who gets no
 * buffers does without.  Budgets belong to all threads, the rest to one.
 */
#ifndef FAST_H
#define FAST_H

#include <stdatomic.h>

#include "common/buffer/rail.h"

#define FAST_COUNT 4u /* buffers of a connection, at most */
#define FAST_DATA (64u << 10) /* bytes of payload */
#define FAST_SIZE (FAST_DATA + (8u << 10)) /* and the request before it */

struct fast_budget {
	size_t max; /* bytes */
	atomic_size_t used;
	atomic_uint refused; /* connections that got none */
};

struct fast; /* one's own */

/* Where buffers are: for the other end. */
struct fast_place {
	uint64_t addr; /* of the first; the others follow it */
	uint32_t rkey;
	uint32_t size; /* bytes of each */
	uint32_t count;
};

/* The other end's; all zero: it has none. */
struct fast_peer {
	struct fast_place place;
};

/*
 * FAST_COUNT buffers of FAST_SIZE bytes, registered with one rail.  budget may
 * be NULL, else outlives them.  only: the peer of that endpoint alone writes there,
 * where the rail can see to that; by that endpoint the place is told.  NULL: who has the
 * key.  -ENOBUFS: it is used up; -ENOMEM, or as tp_mr_reg() and tp_mr_only().
 */
int fast_open(const struct rails *rails, unsigned int rail,
	      struct fast_budget *budget, struct tp_ep *only,
	      struct fast **fast);
/* NULL is fine. */
void fast_close(struct fast *fast);
void fast_place(const struct fast *fast, struct fast_place *place);
/* Buffer i, below FAST_COUNT; its gather entry has the lkey. */
void *fast_buf(const struct fast *fast, unsigned int i);
uint32_t fast_lkey(const struct fast *fast);
uint32_t fast_rkey(const struct fast *fast);

/* What the other end says.  -EINVAL, and nothing is changed: it cannot be. */
int fast_peer_set(struct fast_peer *peer, const struct fast_place *place);
/* The address of buffer i there. */
uint64_t fast_peer_addr(const struct fast_peer *peer, unsigned int i);

/* The client's choice: a number below count that is not in busy, or -1. */
int fast_take(uint32_t *busy, unsigned int count);
void fast_give(uint32_t *busy, unsigned int i);

#endif
