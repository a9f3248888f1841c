/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * list_req_int.h - the next list request to a server from a plan: the file side as
 * vectors; the memory side in place if its pieces are large, otherwise packed into one
 * buffer.  Pure.
 */
#ifndef LIST_REQ_INT_H
#define LIST_REQ_INT_H

#include "client/lib/io/plan.h"
#include "client/lib/io/vecs_int.h"

struct list_limits {
	/* minimum average bytes of pieces to use memory in place */
	uint64_t place;
	uint64_t pack; /* maximum bytes of a packed request */
};

struct list_req {
	uint64_t total;
	/* bytes to skip in the server's share of the first extent */
	uint64_t skip;
	bool packed; /* seg is unused: walk the plan */
	unsigned int nseg;
	struct plan_seg seg[WIRE_MEM_MAX];
	struct vecs vecs;
};

/* True: *req is the server's next request.  False: there is none. */
bool list_req_next(const struct plan *plan, struct plan_cur *cur,
		   const struct list_limits *limits, struct list_req *req);

#endif
