/* SPDX-License-Identifier: BSD-2-Clause */
/* change.h - before an object is changed: whether it may be, and that it is there. */
#ifndef CHANGE_H
#define CHANGE_H

#include "server/state/worker.h"

/*
 * The object, made if it does not exist.  -ENOENT: it was removed, and stays
 * so.
 */
int change_make(struct iod *iod, uint64_t handle, struct store_obj **obj);

/*
 * Before a change of those bytes of the object: -ETIMEDOUT, it comes too late; or as
 * early_change(), a second time over what others wrote.
 */
int change_may(struct iod *iod, const struct rpc_req *req, uint64_t handle,
	       const struct store_seg *seg, unsigned int n);

#endif
