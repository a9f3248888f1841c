/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xfer.h - the way of a READ's or WRITE's bytes through the iod's buffers.
 *
 * A transfer is cut into chunks of a transfer unit, or less if the buffers run
 * short (zone.h: sessions get one each in turn); two are under way at a
 * time, so that one moves over the network while the other meets the file
 * (PVFS over InfiniBand, ICPP 2003, section 3.3: transfer and file access
 * overlap).
 *
 *   begin(chunk)  has a buffer, or lies in windows (x->mapped): many pieces of
 *                 the object in one transfer; the operation moves the data,
 *                 then says chunk_done()
 *   end(xfer)     nothing is under way any more, all done or status set
 */
#ifndef XFER_H
#define XFER_H

#include "server/state/flushing.h"
#include "server/state/worker.h"

#define XFER_CHUNKS 2u
#define CHUNK_WINDOWS 16u

struct chunk {
	struct xfer *x;
	bool busy;
	bool got; /* WRITE: its bytes are here */
	struct zone_buf *buf; /* or */
	struct window *window[CHUNK_WINDOWS];
	unsigned int nwindow;
	unsigned int npiece; /* in windows: worker->piece, during begin() */
	uint64_t pos; /* in the order of the lists */
	struct rail_mem *mem; /* of io.buf */
	struct store_io io;
	int (*apart)(struct chunk *c);
	void (*filed)(struct chunk *c, int status);
	int io_status;
	struct mail mail; /* io was done elsewhere */
	struct rpc_bulk bulk;
	bool entered; /* WRITE into windows: by entry, until that expires */
	struct gate_entry entry;
	struct rpc_timer overdue;
};

struct xfer_ops {
	void (*begin)(struct chunk *c);
	void (*end)(struct xfer *x);
};

struct xfer {
	const struct xfer_ops *ops;
	struct worker *worker;
	struct iod_session *ses;
	struct rpc_req *req; /* NULL: answered */
	struct store_obj *obj; /* NULL: does not exist */
	const struct wire_mem *mem;
	unsigned int nmem;
	bool write;
	bool mapped; /* may go through windows */
	bool broken; /* the connection is */
	bool held; /* fill() is below us in the stack */
	int status; /* first error */
	unsigned int busy; /* chunks under way */
	uint64_t total; /* bytes to move */
	uint64_t next; /* bytes given to chunks */
	uint64_t started; /* READ: bytes on their way back */
	uint64_t size; /* READ: of the object at the start */
	bool inside; /* READ: the object goes on behind all that it asks for */
	uint64_t direct; /* WRITE: the end of what went into windows, or 0 */
	unsigned int seg_at; /* where `next` lies in seg */
	uint64_t skip;
	struct zone_wait wait;
	struct rpc_timer late; /* while it waits */
	LIST_ENTRY(xfer) link;
	struct chunk *filing; /* WRITE: on its way into the file */
	struct chunk chunk[XFER_CHUNKS];
	struct mark *mark; /* WRITE: until it is written; or NULL */
	struct flushing flush;
	unsigned int nseg;
	struct store_seg *seg; /* few, or */
	struct store_seg *many; /* of a list: manymax; kept for the next */
	size_t manymax;
	struct store_seg few[WIRE_REGION_MAX];
};

/*
 * A transfer for a READ or WRITE, with its regions as seg, or for one of a
 * list, with the iod's share of that (neighbours that touch are one).  NULL:
 * no memory, or not so long a list; req was answered.
 */
struct xfer *xfer_new(struct worker *w, struct rpc_req *req,
		      const struct xfer_ops *ops);
/* Puts the object and the session; req must have been given back. */
void xfer_free(struct xfer *x);
/* Moves x->total bytes: begin() for each chunk, at last end(). */
void xfer_run(struct xfer *x);
/* May windows serve the session? */
bool xfer_windows(const struct xfer *x);
/* The pieces are small, and many. */
bool xfer_fine(const struct xfer *x);
/* From end(): the same once more, from the beginning. */
void xfer_again(struct xfer *x);
/*
 * The next pieces that lie in windows, as many as may be one chunk; c->npiece is
 * 0 if the next one does not.  chunk_unmap() ends it.
 */
uint64_t chunk_map(struct chunk *c);
/*
 * Before data comes to the windows of a WRITE: the object itself is what it lands
 * in, so the transfer ends, with its connection, when that expires (gate.h).
 * -ETIMEDOUT: that has passed.
 */
int chunk_enter(struct chunk *c);
void chunk_unmap(struct chunk *c);
/*
 * Lets the engine do c->io, then calls filed(c, status): at once or, on the
 * worker's thread, later.
 */
void chunk_file(struct chunk *c, bool write,
		void (*filed)(struct chunk *c, int status));
/* The same for apart(c), on another thread: it may have to wait. */
void chunk_apart(struct chunk *c, int (*apart)(struct chunk *c),
		 void (*filed)(struct chunk *c, int status));
/*
 * Moves the chunk's bytes between its buffer and the client.  Without a
 * connection: broken is set and -ENOTCONN is answered.
 */
int chunk_bulk(struct chunk *c, enum rpc_bulk_dir dir,
	       void (*done)(struct rpc_bulk *bulk, int status));
/* The buffer is free again. */
void chunk_done(struct chunk *c, int status);

/* Ends those of the session that wait for a buffer. */
void xfer_stop_all(struct worker *w, const struct iod_session *ses, int status);

/* Frees what a stop left under way, and the spare ones. */
void xfer_free_all(struct worker *w);

#endif
