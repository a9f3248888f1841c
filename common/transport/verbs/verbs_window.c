/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbs_window.c - memory for one connection only. A queue pair accepts every key of its protection
 * domain, but it accepts the key of a type 2 memory window only if it bound that window itself.
 */
#include <errno.h>

#include "common/transport/verbs/verbs.h"

bool vb_has_windows(const struct vb_dev *d)
{
	return !atomic_load(&d->no_windows) &&
	       d->attr.device_cap_flags & (IBV_DEVICE_MEM_WINDOW_TYPE_2A |
					   IBV_DEVICE_MEM_WINDOW_TYPE_2B);
}

/* A lack of free windows is no reason to use memory without windows from now on. */
static int failed(struct vb_ep *ep, int rc)
{
	struct vb_dev *d = vb_dev(ep->ep.dev);

	log_debug(vb_log(ep), "%s: no memory window (error %d)", ep->peer, -rc);
	if (rc != -EOPNOTSUPP && rc != -ENOSYS && rc != -EINVAL)
		return rc;
	if (!atomic_exchange(&d->no_windows, true))
		log_warn(d->dev.log,
			 "verbs: %s has no memory windows, though it says so "
			 "(error %d): keys of Fast RDMA buffers are good for "
			 "all connections",
			 ibv_get_device_name(d->ctx->device), -rc);
	return rc;
}

static int window_open(struct vb_mr *mr, struct vb_ep *ep)
{
	const struct ibv_mw_bind_info info = {
		.mr = mr->ib,
		.addr = (uintptr_t)mr->mr.addr,
		.length = mr->mr.len,
		.mw_access_flags = (unsigned int)mr->window_access,
	};
	uint32_t rkey = ibv_inc_rkey(mr->mw->rkey);
	int rc = vb_bind_hw(ep, mr->mw, &info, rkey);

	if (!rc)
		mr->mr.rkey = rkey;
	return rc;
}

int vb_mr_only(struct tp_mr *base, struct tp_ep *base_ep)
{
	struct vb_mr *mr = container_of(base, struct vb_mr, mr);
	struct vb_ep *ep = vb_ep(base_ep);
	int rc;

	if (!mr->window_access)
		return -EOPNOTSUPP;
	if (ep->state != VB_OPEN)
		return -ENOTCONN;
	vb_window_end(mr);
	mr->mw = ibv_alloc_mw(vb_dev(base->dev)->pd, IBV_MW_TYPE_2);
	if (!mr->mw)
		return failed(ep, errno ? -errno : -ENOMEM);
	LIST_INSERT_HEAD(&ep->windows, mr, of_ep);
	rc = window_open(mr, ep);
	if (!rc)
		return 0;
	vb_window_end(mr);
	return failed(ep, rc);
}

void vb_window_end(struct vb_mr *mr)
{
	int rc;

	if (!mr->mw)
		return;
	LIST_REMOVE(mr, of_ep);
	rc = ibv_dealloc_mw(mr->mw);
	if (rc)
		log_error(mr->mr.dev->log,
			  "verbs: cannot free a memory window (error %d)", rc);
	mr->mw = NULL;
}

void vb_windows_end(struct vb_ep *ep)
{
	struct vb_mr *mr;

	while ((mr = LIST_FIRST(&ep->windows)))
		vb_window_end(mr);
}
