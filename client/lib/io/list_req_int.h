/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * list_req_int.h - the next list request to a server from a plan: the file side as
 * vectors; the memory side in place if its pieces are large, otherwise packed into one
 * buffer.  Pure.
 */
#ifndef LIST_REQ_INT_H
#define LIST_REQ_INT_H

#include "common/wire/wire.h"
#include <stdbool.h>
#include "client/lib/io/plan.h"

/*
 * Finds regular patterns in a sequence of file extents.  Extents at a constant stride join a
 * vector.  A repetition of the vector becomes its next row (struct wire_vec).
 */
struct vecs {
	unsigned int n;
	unsigned int pieces; /* number of pieces that v[] describes */
	bool open; /* the last vector is under construction */
	bool needed; /* ... and contains a needed extent */
	struct wire_vec v[WIRE_VEC_MAX]; /* as on the wire */
};

void vecs_begin(struct vecs *vecs);
/*
 * Adds an extent.  needed false: the extent has nothing on the server and may be omitted;
 * it only helps to find the pattern.  False: no room.
 */
bool vecs_add(struct vecs *vecs, uint64_t off, uint64_t len, bool needed);
/* Call it after the last vecs_add(). */
void vecs_end(struct vecs *vecs);

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

/* Sets *req to the server's next list request.  Returns false if there is none. */
bool list_req_next(const struct io_plan *plan, struct plan_cur *cur,
		   const struct list_limits *limits, struct list_req *req);

#endif
