/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * rdma_places.h - the tables of sizes (size_table.h) and of shared blocks (block_table.h) of the
 * store, over the devices that serve RDMA Reads: registers them, and tells clients the places.
 */
#ifndef RDMA_PLACES_H
#define RDMA_PLACES_H

#include "server/state/worker.h"

/*
 * Registers the tables that the store has with each device.  If that fails for a device, the
 * error is logged, and the device is not used for them.
 */
void rdma_places_open(struct iod *iod);
/* Call it before the devices are closed, when no client is connected. */
void rdma_places_close(struct iod *iod);

/* Whether a device can serve the table of sizes.  If none can, the store needs no such table. */
bool size_place_wanted(const struct iod *iod);
/* The place of the object for the client of req.  False: the client has to send requests. */
bool size_place_get(struct iod *iod, const struct rpc_req *req,
		    struct object_key key, struct wire_end_place *place);

/* reads of more bytes do not count for sharing */
#define BLOCK_PLACE_READ_MAX 16384u

/*
 * The bytes of the table of blocks.  0: the setting share is 0; or no device serves RDMA Reads, or
 * auth does not allow it, which is logged.
 */
uint64_t block_place_bytes(const struct iod *iod);
/*
 * Fills *rep with the place of the table of blocks for the client of req.  -EOPNOTSUPP: the
 * request's device does not serve the table.
 */
int block_place_get(const struct iod *iod, const struct rpc_req *req,
		    struct wire_share_rep *rep);
/* As store_obj_note_read(), if a device shares the table. */
void block_place_note_read(const struct iod *iod, struct store_obj *obj,
			   const struct store_seg *seg, unsigned int n,
			   uint64_t size);

#endif
