/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plan.h - from what the caller wants to what each server is asked.
 *
 * A transfer is a row of bytes numbered from 0.  The file side is a list of
 * spans of a view, the memory side a list of iovecs, both in the order of
 * the transfer.  Each server of the file has a cursor that walks the
 * transfer and stops at the bytes on that server only; plan_next() collects
 * them into requests that respect the limits of a message.  Pure: nothing
 * here sends, allocates or looks at the data.
 */
#ifndef PLAN_H
#define PLAN_H

#include <sys/uio.h>

#include "common/dist/dist.h"
#include "client/lib/io/view.h"
#include "common/wire/wire.h"

#define PLAN_REQUEST_MAX                                                       \
	(64u << 20) /* bytes of one request: what a server
					 * can surely do before the deadline */

struct loans;

struct plan_span {
	uint64_t pos, len; /* bytes of the view */
};

struct plan {
	const struct dist *dist;
	const struct view *view;
	const struct plan_span *span;
	unsigned int nspan;
	const struct iovec *iov; /* empty ones are allowed */
	unsigned int niov;
	const struct iovec *parent; /* allocations that the memory lies in, to
					 * be registered whole; or NULL */
	unsigned int nparent;
	struct loans *loans; /* of the file's objects, or NULL: loans.h */
	bool serial; /* overlaps: one request after the other */
};

/* Bytes [at, at + len) of the transfer are the server's from local on. */
struct plan_piece {
	uint64_t at, local, len;
};

struct plan_cur {
	uint32_t k; /* server of the file */
	unsigned int nspan; /* spans begun */
	uint64_t at; /* transfer: behind the extent at hand */
	uint64_t ext_at, ext_off; /* the extent: in transfer and file */
	uint64_t ext_len;
	struct view_iter view; /* extents of the span */
	struct dist_iter dist; /* the server's pieces of the extent */
	struct plan_piece piece; /* what is left of the last one */
	unsigned int iov;
	uint64_t iov_at; /* where that iovec begins */
};

/* Bytes of the transfer. */
uint64_t plan_total(const struct plan *plan);
void plan_start(const struct plan *plan, struct plan_cur *cur, uint32_t k);
/*
 * The two steps of plan_piece(): the next extent of the file, cur->ext_off and
 * ext_len, which may have nothing on the server; and the next piece in it.
 */
bool plan_extent(const struct plan *plan, struct plan_cur *cur);
bool plan_share(const struct plan *plan, struct plan_cur *cur);
/* True: cur->piece is the next piece; false: the server has no more. */
bool plan_piece(const struct plan *plan, struct plan_cur *cur);
/*
 * The longest contiguous memory for the head of cur->piece, at most max
 * bytes; *iov tells of which iovec.  plan_advance() steps over it.
 */
void *plan_memory(const struct plan *plan, struct plan_cur *cur, uint64_t max,
		  size_t *len, unsigned int *iov);
void plan_advance(struct plan_cur *cur, uint64_t len);

struct plan_seg {
	void *addr;
	uint32_t len;
	unsigned int iov;
};

struct plan_req {
	uint64_t total;
	unsigned int nreg, nseg;
	struct wire_region reg[WIRE_REGION_MAX]; /* as on the wire */
	struct plan_seg seg[WIRE_MEM_MAX];
};

/* True: *req is the server's next request; false: there is none. */
bool plan_next(const struct plan *plan, struct plan_cur *cur,
	       struct plan_req *req);

#endif
