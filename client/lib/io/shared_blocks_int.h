/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shared_blocks_int.h - small reads by RDMA from the block cache that an iod shares (block.h),
 * without waking a thread of the iod.  The client asks an iod for the address of the cache
 * after SHARED_AFTER small reads.  After a read that the cache could not answer, the client
 * skips the cache for some reads.
 */
#ifndef SHARED_BLOCKS_INT_H
#define SHARED_BLOCKS_INT_H

#include "client/lib/io/plan.h"
#include "client/lib/session/client_session.h"

#define SHARED_AFTER 8u
#define SHARED_MAX 16384u /* maximum bytes of a read */
#define SHARED_BLOCKS 8u /* maximum blocks of a read */

/*
 * Reads what it can of the plan.  done[k], for k < plan->dist->pcount, says that the share of
 * server k is complete; the function sets more of them.  Returns true if all are set.
 */
bool shared_blocks_read(struct session *s, uint64_t handle,
			const struct io_plan *plan, bool *done);

#endif
