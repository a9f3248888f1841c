/* SPDX-License-Identifier: BSD-2-Clause */
/* change.h - before an object is changed: checks that it may be, and makes it if needed. */
#ifndef CHANGE_H
#define CHANGE_H

#include "server/state/worker.h"

/*
 * Returns the object with a reference for the caller, made if it does not exist.  -ENOENT: it
 * was removed, and is not made again.  -errno of the store.
 */
int change_make(struct iod *iod, uint64_t handle, struct store_obj **obj);

/*
 * Checks a change of these bytes of the object.  -ETIMEDOUT: its expiry has passed.  -EIO,
 * -ECONNABORTED: it is a repeated request that must not be executed again, as for
 * early_change().
 */
int change_may(struct iod *iod, const struct rpc_req *req, uint64_t handle,
	       const struct store_seg *seg, unsigned int n);

#endif
