/* SPDX-License-Identifier: BSD-2-Clause */
/* shares.h - tells clients where the shared blocks lie (share.h), and fills them. */
#ifndef SHARES_H
#define SHARES_H

#include "server/state/worker.h"

/* reads of more bytes do not count for sharing */
#define SHARES_READ_MAX 16384u

/* The bytes to be shared.  0: none are configured, or no client could or may read them; then
 * the reason is logged. */
uint64_t shares_size(const struct iod *iod);
/* Registers the table, if there is one.  Devices where that fails are logged and share nothing. */
void shares_open(struct iod *iod);
void shares_close(struct iod *iod);
/* -EOPNOTSUPP: nothing is shared over the request's device. */
int shares_place(const struct iod *iod, const struct rpc_req *req,
		 struct wire_share_rep *rep);
/* As store_obj_seen(), if a device shares the table. */
void shares_seen(const struct iod *iod, struct store_obj *obj,
		 const struct store_seg *seg, unsigned int n, uint64_t size);

#endif
