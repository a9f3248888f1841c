/* SPDX-License-Identifier: BSD-2-Clause */
/* shares.h - tells clients where blocks are shared (share.h), and fills them. */
#ifndef SHARES_H
#define SHARES_H

#include "server/state/worker.h"

#define SHARES_READ_MAX 16384u /* of what is read in one request */

/* How many bytes are to be shared: 0 where nobody could or may read them, and it says why. */
uint64_t shares_size(const struct iod *iod);
/* Registers the table, if there is one. */
void shares_open(struct iod *iod);
void shares_close(struct iod *iod);
/* -EOPNOTSUPP: none, over that device. */
int shares_place(const struct iod *iod, const struct rpc_req *req,
		 struct wire_share_rep *rep);
/* As store_obj_seen(). */
void shares_seen(const struct iod *iod, struct store_obj *obj,
		 const struct store_seg *seg, unsigned int n, uint64_t size);

#endif
