/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * warm_int.h - small reads of blocks that iods share (block.h), by RDMA, without waking a
 * thread there.  The client asks an iod for their address at the WARM_AFTER-th small
 * read.  After a miss, some reads skip the lookup.
 */
#ifndef WARM_INT_H
#define WARM_INT_H

#include "client/lib/io/plan.h"
#include "client/lib/session/client_session.h"

#define WARM_AFTER 8u
#define WARM_MAX 16384u /* maximum bytes of a read */
#define WARM_BLOCKS 8u /* maximum blocks of a read */

/*
 * done[k], of plan->dist->pcount elements.  On entry: nothing is left to read at server
 * k; on return, more may be set.  True: nothing is left at any server.
 */
bool warm_run(struct session *s, uint64_t handle, const struct plan *plan,
	      bool *done);

#endif
