/* SPDX-License-Identifier: BSD-2-Clause */
/* change.c - see change.h. */
#include "server/state/change.h"

#include <errno.h>

/* The second check catches a removal since the first. */
int change_make(struct iod *iod, uint64_t handle, struct store_obj **obj)
{
	struct store_obj *made;
	int rc;

	if (tombs_has(iod->tombs, handle))
		return -ENOENT;
	rc = store_obj_get(iod->store, handle, true, &made);
	if (rc)
		return rc;
	if (!tombs_has(iod->tombs, handle)) {
		*obj = made;
		return 0;
	}
	store_obj_put(made);
	rc = store_remove(iod->store, handle, false);
	return rc ? rc : -ENOENT;
}

int change_may(struct iod *iod, const struct rpc_req *req, uint64_t handle,
	       const struct store_seg *seg, unsigned int n)
{
	if (rpc_req_late(req))
		return -ETIMEDOUT;
	return early_change(iod->early, handle, seg, n,
			    rpc_session_info(req->session)->id, req->anew);
}
