/* SPDX-License-Identifier: BSD-2-Clause */
/* rdma_places.c - see rdma_places.h. */
#include "server/state/rdma_places.h"

#include <errno.h>
#include <string.h>

/* ---- sizes ---- */

/* If the transport needs a process for RDMA Reads, a request is as fast. */
static bool serves_sizes(const struct iod *iod, const struct tp_dev *dev)
{
	switch (iod->conf.ends) {
	case IOD_WORDS_ON:
		return tp_dev_serves(dev) & TP_ALONE;
	case IOD_WORDS_ALL:
		return true;
	case IOD_WORDS_OFF:
		break;
	}
	return false;
}

bool size_place_wanted(const struct iod *iod)
{
	const struct rails *rails = &iod->fabric.rails;

	for (unsigned int i = 0; i < rails->n; i++)
		if (serves_sizes(iod, rails->dev[i]))
			return true;
	return false;
}

static void register_sizes(struct iod *iod)
{
	const struct rails *rails = &iod->fabric.rails;
	struct size_table *table = store_size_table(iod->store);
	unsigned int i;
	size_t len;
	void *addr;
	int rc;

	if (!table)
		return;
	addr = size_table_memory(table, &len);
	for (i = 0; i < rails->n; i++) {
		if (!serves_sizes(iod, rails->dev[i]))
			continue;
		rc = tp_mr_reg(rails->dev[i], addr, len,
			       TP_REMOTE_READ | TP_LENT, &iod->size_mr[i]);
		if (rc)
			log_warn(iod->log,
				 "cannot register %zu KiB with %s: %s; clients "
				 "ask for sizes there",
				 len / 1024, tp_dev_name(rails->dev[i]),
				 strerror(-rc));
	}
}

bool size_place_get(struct iod *iod, const struct rpc_req *req,
		    struct object_key key, struct wire_end_place *place)
{
	const struct tp_mr *mr = iod->size_mr[rpc_req_rail(req)];
	uint64_t tag;
	size_t at;

	/* one memory key gives access to the sizes of all objects; a copyset may change its primary */
	if (!mr || !object_key_is_own(key) || iod->conf.auth.caps ||
	    !(rpc_session_info(req->session)->features & WIRE_FT_ENDS) ||
	    !size_table_place(store_size_table(iod->store), key, &at, &tag))
		return false;
	*place = (struct wire_end_place){
		.addr = htole64((uintptr_t)mr->addr + at),
		.tag = htole64(tag),
		.rkey = htole32(mr->rkey),
	};
	return true;
}

/* ---- blocks ---- */

/* If the transport needs a process for RDMA Reads, sharing is only for tests. */
static bool serves_blocks(const struct iod *iod, const struct tp_dev *dev)
{
	return iod->conf.ends == IOD_WORDS_ALL || tp_dev_serves(dev) & TP_ALONE;
}

static bool any_device_serves_blocks(const struct iod *iod)
{
	const struct rails *rails = &iod->fabric.rails;

	for (unsigned int i = 0; i < rails->n; i++)
		if (serves_blocks(iod, rails->dev[i]))
			return true;
	return false;
}

/* A memory key gives access to all shared blocks, not only to the objects that its client may
 * read. */
static const char *reason_not_to_share(const struct iod *iod)
{
	if (iod->conf.auth.mode != AUTH_SYS)
		return "[filesystem] auth is not sys, and who has the key of "
		       "shared memory can read all of it; remove share, or "
		       "that";
	return any_device_serves_blocks(iod)
		       ? NULL
		       : "no adapter serves RDMA Reads here; remove "
			 "share";
}

uint64_t block_place_bytes(const struct iod *iod)
{
	const char *why = iod->conf.share ? reason_not_to_share(iod) : NULL;

	if (!why)
		return iod->conf.share;
	log_warn(iod->log, "share = %llu KiB is not used: %s",
		 (unsigned long long)iod->conf.share / 1024, why);
	return 0;
}

static void register_blocks(struct iod *iod)
{
	const struct rails *rails = &iod->fabric.rails;
	struct block_table *table = store_block_table(iod->store);
	uint64_t places;
	unsigned int i;
	size_t len;
	void *addr;
	int rc;

	if (!table)
		return;
	addr = block_table_memory(table, &len, &places);
	for (i = 0; i < rails->n; i++) {
		if (!serves_blocks(iod, rails->dev[i]))
			continue;
		rc = tp_mr_reg(rails->dev[i], addr, len,
			       TP_REMOTE_READ | TP_LENT, &iod->block_mr[i]);
		if (rc)
			log_warn(iod->log,
				 "share = %zu KiB cannot be registered with "
				 "%s: %s; nothing is shared there",
				 len / 1024, tp_dev_name(rails->dev[i]),
				 strerror(-rc));
		iod->shares_blocks |= !rc;
	}
	if (iod->shares_blocks)
		log_info(iod->log,
			 "share: %zu KiB of what is read often are open to "
			 "RDMA Reads of all clients",
			 len / 1024);
}

int block_place_get(const struct iod *iod, const struct rpc_req *req,
		    struct wire_share_rep *rep)
{
	const struct tp_mr *mr = iod->block_mr[rpc_req_rail(req)];
	uint64_t places;
	size_t len;

	if (!mr)
		return -EOPNOTSUPP;
	block_table_memory(store_block_table(iod->store), &len, &places);
	*rep = (struct wire_share_rep){
		.addr = htole64((uintptr_t)mr->addr),
		.places = htole64(places),
		.rkey = htole32(mr->rkey),
	};
	return 0;
}

void block_place_note_read(const struct iod *iod, struct store_obj *obj,
			   const struct store_seg *seg, unsigned int n,
			   uint64_t size)
{
	if (iod->shares_blocks)
		store_obj_note_read(obj, seg, n, size);
}

/* ---- both ---- */

void rdma_places_open(struct iod *iod)
{
	register_sizes(iod);
	register_blocks(iod);
}

void rdma_places_close(struct iod *iod)
{
	unsigned int i;

	for (i = 0; i < RAILS_MAX; i++) {
		if (iod->size_mr[i])
			tp_mr_dereg(iod->size_mr[i]);
		if (iod->block_mr[i])
			tp_mr_dereg(iod->block_mr[i]);
	}
}
