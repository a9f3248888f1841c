/* SPDX-License-Identifier: BSD-2-Clause */
/* copies_int.h - the inside of copies.h. */
#ifndef COPIES_INT_H
#define COPIES_INT_H

#include "server/state/change.h"
#include "common/util/container.h"
#include "server/copy/copies.h"
#include "server/state/flushing.h"

#define COPY_PARTS 4u
#define COPY_PART (512u << 10) /* bytes */
#define COPY_OWN 2u /* parts of one session */

struct copy {
	struct worker *worker;
	struct iod_session *ses;
	struct rpc_req *req;
	struct store_obj *obj, *from; /* from: NULL, at another iod, or none */
	struct mark *mark;
	uint64_t next; /* bytes given to parts */
	unsigned int busy; /* parts */
	int status; /* first error */
	bool queued; /* something is left to be begun */
	TAILQ_ENTRY(copy) turn;
	LIST_ENTRY(copy) link;
	struct rpc_timer late; /* of a copy that waits */
	struct flushing flush;
};

/* A buffer, and what it is used for. */
struct copy_part {
	struct copies *all;
	struct copy *copy; /* NULL: free */
	uint64_t pos; /* of the copy's bytes */
	size_t len;
	struct rail_mem mem, *area; /* area: that, for the call */
	void (*got)(struct copy_part *p, int status); /* the bytes are there */
	struct store_seg seg;
	struct store_io io;
	int io_status;
	struct mail mail;
	struct rpc_call call;
};

struct copies {
	struct worker *worker;
	uint8_t *block; /* of all parts; NULL: not yet */
	struct rpc_peer **peer; /* niods; NULL: not asked yet */
	TAILQ_HEAD(, copy) turns;
	LIST_HEAD(, copy) list;
	struct copy_part part[COPY_PARTS];
};

static inline const struct wire_copy *copy_body(const struct copy *c)
{
	return c->req->msg.body;
}

/* The engine on p's bytes of obj, from off on; got() follows, now or later. */
void part_file(struct copy_part *p, bool write, struct store_obj *obj,
	       uint64_t off, void (*got)(struct copy_part *p, int status));
/* ---- where the bytes come from: copy_read.c ---- */

/* Brings p's bytes; got() follows, now or later. */
void part_read(struct copy_part *p,
	       void (*got)(struct copy_part *p, int status));
/* They are not waited for any more: got() comes now, if they come from an iod. */
void part_forget(struct copy_part *p);
void peers_close(struct copies *all);

/* ---- its end: op_copy.c ---- */

/* No part is busy; c is in no list any more, and is freed. */
void copy_end(struct copy *c);
void copy_free(struct copy *c);
/* c's turns begin: copies.c.  -ENOMEM, or as tp_mr_reg(). */
int copies_add(struct copies *all, struct copy *c);

#endif
