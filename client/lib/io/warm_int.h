/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * warm_int.h - small reads of what iods share (block.h), by RDMA: nobody wakes up there.
 * An iod is asked where that is at the WARM_AFTER-th small read; where a block is not found
 * it is not looked for again at once.
 */
#ifndef WARM_INT_H
#define WARM_INT_H

#include "client/lib/io/plan.h"
#include "client/lib/session/session.h"

#define WARM_AFTER 8u
#define WARM_MAX 16384u /* bytes of a read */
#define WARM_BLOCKS 8u /* that it may touch */

/*
 * done[k], one of plan->dist->pcount: in, nothing is left to be read there; out, more of
 * these.  True: so at all of them.
 */
bool warm_run(struct session *s, uint64_t handle, const struct plan *plan,
	      bool *done);

#endif
