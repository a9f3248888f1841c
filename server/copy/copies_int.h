/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * copies_int.h - the state of copies.h, and its parts.  copies.c calls copy_part.c, not the other
 * way round.  Only the worker's thread uses all this.
 */
#ifndef COPIES_INT_H
#define COPIES_INT_H

#include "common/util/container.h"
#include "server/copy/copies.h"
#include "server/copyset/assignments.h"
#include "server/copyset/change.h"

#define COPY_PARTS 4u
#define COPY_PART_LEN (512u << 10) /* bytes */
#define COPY_PARTS_OF_SESSION 2u

struct object_copy {
	struct worker *worker;
	struct iod_session *ses;
	struct rpc_req *req;
	struct store_obj *obj;
	bool here; /* the source was in this store at the start */
	struct store_obj *from; /* NULL: not here, or does not exist */
	struct dirty_object *dirty;
	uint64_t next; /* offset of the next part */
	unsigned int busy; /* parts */
	int status; /* first error */
	bool queued; /* for its next part */
	TAILQ_ENTRY(object_copy) turn;
	LIST_ENTRY(object_copy) link;
	struct rpc_timer deadline; /* of a copy that waits */
	struct change_flush flush;
};

struct copy_part;
typedef void copy_part_fn(struct copy_part *part, int status);

/* A buffer, and the part of a copy that uses it. */
struct copy_part {
	struct copies *copies;
	struct object_copy *copy; /* NULL: not in use */
	uint64_t pos; /* offset in the copy */
	size_t len;
	struct rail_mem mem, *area; /* area: points to mem, for the call */
	copy_part_fn *done;
	struct store_seg seg;
	struct file_access access;
	struct mailbox_item mail;
	struct rpc_call call;
};

struct copies {
	struct worker *worker;
	uint8_t *block; /* of all parts; NULL: not allocated yet */
	TAILQ_HEAD(, object_copy) turns;
	LIST_HEAD(, object_copy) list;
	struct copy_part part[COPY_PARTS];
};

static inline const struct wire_copy *copy_body(const struct object_copy *c)
{
	return c->req->msg.body;
}

/* The copyset of the source; 0: the own one of an iod. */
static inline uint32_t copy_source_copyset(const struct object_copy *c)
{
	uint32_t source = le32toh(copy_body(c)->iod);

	return source < COPYSET_FIRST ? 0 : source;
}

/* ---- copy_part.c ---- */

/* Whether this iod has the source, and serves it. */
bool copy_source_is_here(const struct object_copy *c);

/*
 * Reads the part's bytes from the store or from another iod; bytes after the end of the source
 * are zero.  Calls done(part, status) now or later; status: 0, -EHOSTUNREACH (the other iod did
 * not answer, or a copyset with a row is not served here), or an error of the store or of the other
 * iod.
 */
void copy_part_read(struct copy_part *part, copy_part_fn *done);
/* Writes the part's bytes to the target.  Calls done(part, status) now or later. */
void copy_part_write(struct copy_part *part, copy_part_fn *done);
/*
 * If the part is being read from another iod, cancels that: done() is called before this returns.
 * A file access continues, and done() is called at its end.
 */
void copy_part_cancel(struct copy_part *part);

#endif
