/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * plan.h - splits a transfer into requests to each server.
 *
 * A transfer is a sequence of bytes numbered from 0.  The file side is a list of spans of
 * a view, and the memory side is a list of iovecs, both in the order of the transfer.
 * Each server of the file has a cursor that walks the transfer and stops only at bytes on
 * that server.  plan_next() collects these bytes into requests within the limits of a
 * message.  Pure: nothing here sends, allocates or accesses the data.
 */
#ifndef PLAN_H
#define PLAN_H

#include <sys/uio.h>

#include "common/dist/dist.h"
#include "client/lib/io/file_view.h"
#include "common/wire/wire.h"

/* maximum bytes of one request, which a server can complete before the deadline */
#define PLAN_REQUEST_MAX (64u << 20)

struct loans;

struct plan_span {
	uint64_t pos, len; /* bytes of the view */
};

struct io_plan {
	const struct dist *dist;
	const struct file_view *view;
	const struct plan_span *span;
	unsigned int nspan;
	const struct iovec *iov; /* empty ones are permitted */
	unsigned int niov;
	/* allocations that contain the memory, to be registered as a whole; or NULL */
	const struct iovec *parent;
	unsigned int nparent;
	struct loans *loans; /* loans of the file's objects, or NULL: loans.h */
	bool serial; /* pieces overlap: send one request after the other */
};

/* Bytes [at, at + len) of the transfer are on the server, from local in its object. */
struct plan_piece {
	uint64_t at, local, len;
};

struct plan_cur {
	uint32_t k; /* index of the server in the file */
	unsigned int nspan; /* spans started */
	uint64_t at; /* transfer offset after the current extent */
	/* offset of the extent in the transfer and in the file */
	uint64_t ext_at, ext_off;
	uint64_t ext_len;
	struct view_iter view; /* extents of the span */
	struct dist_iter dist; /* the server's pieces of the extent */
	struct plan_piece piece; /* the rest of the last piece */
	unsigned int iov;
	uint64_t iov_at; /* transfer offset where the iovec starts */
};

/* Returns the bytes of the transfer. */
uint64_t plan_total(const struct io_plan *plan);
void plan_start(const struct io_plan *plan, struct plan_cur *cur, uint32_t k);
/*
 * The two steps of plan_piece().  plan_extent() sets cur->ext_off and ext_len to the next
 * contiguous extent of the file, of which the server may store nothing.  plan_share() sets
 * cur->piece to the next piece of this extent on the server.  Each returns false at the end.
 */
bool plan_extent(const struct io_plan *plan, struct plan_cur *cur);
bool plan_share(const struct io_plan *plan, struct plan_cur *cur);
/* Sets cur->piece to the server's next piece.  Returns false if there is none. */
bool plan_piece(const struct io_plan *plan, struct plan_cur *cur);
/*
 * Returns the address of the memory for the first bytes of cur->piece.  Sets *len to its length,
 * which is contiguous and at most max bytes, and *iov to the index of its iovec.
 * plan_advance() then advances cur by len bytes.
 */
void *plan_memory(const struct io_plan *plan, struct plan_cur *cur,
		  uint64_t max, size_t *len, unsigned int *iov);
void plan_advance(struct plan_cur *cur, uint64_t len);

/*
 * Fills piece[] with the memory of the next *len bytes after cur: at most WIRE_MEM_MAX pieces,
 * of which adjacent ones are merged.  Advances cur over them, and sets *len to the bytes that
 * the pieces have, which may be fewer.  Returns the number of pieces.
 */
unsigned int plan_pieces(const struct io_plan *plan, struct plan_cur *cur,
			 uint64_t *len, struct iovec *piece);

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

/* Sets *req to the server's next request.  Returns false if there is none. */
bool plan_next(const struct io_plan *plan, struct plan_cur *cur,
	       struct plan_req *req);

#endif
