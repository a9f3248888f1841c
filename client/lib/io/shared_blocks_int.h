/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shared_blocks_int.h - small reads of blocks that iods share (block.h), by RDMA, without waking a
 * thread there.  The client asks an iod for their address at the SHARED_AFTER-th small
 * read.  After a miss, some reads skip the lookup.
 */
#ifndef SHARED_BLOCKS_INT_H
#define SHARED_BLOCKS_INT_H

#include "client/lib/io/plan.h"
#include "client/lib/session/client_session.h"

#define SHARED_AFTER 8u
#define SHARED_MAX 16384u /* maximum bytes of a read */
#define SHARED_BLOCKS 8u /* maximum blocks of a read */

/*
 * done[k], of plan->dist->pcount elements.  On entry: nothing is left to read at server
 * k; on return, more may be set.  True: nothing is left at any server.
 */
bool shared_blocks_read(struct session *s, uint64_t handle,
			const struct io_plan *plan, bool *done);

#endif
