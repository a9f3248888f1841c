/* SPDX-License-Identifier: BSD-2-Clause */
/* shares.c - see shares.h. */
#include "server/state/shares.h"

#include <errno.h>
#include <string.h>

/* If the transport needs a process for RDMA Reads, sharing is only for tests. */
static bool serves(const struct iod *iod, const struct tp_dev *dev)
{
	return iod->conf.ends == IOD_WORDS_ALL || tp_dev_serves(dev) & TP_ALONE;
}

static bool any_serves(const struct iod *iod)
{
	const struct rails *rails = &iod->fabric.rails;

	for (unsigned int i = 0; i < rails->n; i++)
		if (serves(iod, rails->dev[i]))
			return true;
	return false;
}

/* A memory key gives access to all shared blocks, not only to the objects that its client may
 * read. */
static const char *hindrance(const struct iod *iod)
{
	if (iod->conf.auth.mode != AUTH_SYS)
		return "[filesystem] auth is not sys, and who has the key of "
		       "shared memory can read all of it; remove share, or "
		       "that";
	return any_serves(iod) ? NULL
			       : "no adapter serves RDMA Reads here; remove "
				 "share";
}

uint64_t shares_size(const struct iod *iod)
{
	const char *why = iod->conf.share ? hindrance(iod) : NULL;

	if (!why)
		return iod->conf.share;
	log_warn(iod->log, "share = %llu KiB is not used: %s",
		 (unsigned long long)iod->conf.share / 1024, why);
	return 0;
}

void shares_open(struct iod *iod)
{
	const struct rails *rails = &iod->fabric.rails;
	struct share *share = store_share(iod->store);
	uint64_t places;
	unsigned int i;
	size_t len;
	void *addr;
	int rc;

	if (!share)
		return;
	addr = share_memory(share, &len, &places);
	for (i = 0; i < rails->n; i++) {
		if (!serves(iod, rails->dev[i]))
			continue;
		rc = tp_mr_reg(rails->dev[i], addr, len,
			       TP_REMOTE_READ | TP_LENT, &iod->shares[i]);
		if (rc)
			log_warn(iod->log,
				 "share = %zu KiB cannot be registered with "
				 "%s: %s; nothing is shared there",
				 len / 1024, tp_dev_name(rails->dev[i]),
				 strerror(-rc));
		iod->sharing |= !rc;
	}
	if (iod->sharing)
		log_info(iod->log,
			 "share: %zu KiB of what is read often are open to "
			 "RDMA Reads of all clients",
			 len / 1024);
}

void shares_close(struct iod *iod)
{
	unsigned int i;

	for (i = 0; i < RAILS_MAX; i++)
		if (iod->shares[i])
			tp_mr_dereg(iod->shares[i]);
}

int shares_place(const struct iod *iod, const struct rpc_req *req,
		 struct wire_share_rep *rep)
{
	const struct tp_mr *mr = iod->shares[rpc_req_rail(req)];
	uint64_t places;
	size_t len;

	if (!mr)
		return -EOPNOTSUPP;
	share_memory(store_share(iod->store), &len, &places);
	*rep = (struct wire_share_rep){
		.addr = htole64((uintptr_t)mr->addr),
		.places = htole64(places),
		.rkey = htole32(mr->rkey),
	};
	return 0;
}

void shares_seen(const struct iod *iod, struct store_obj *obj,
		 const struct store_seg *seg, unsigned int n, uint64_t size)
{
	if (iod->sharing)
		store_obj_seen(obj, seg, n, size);
}
