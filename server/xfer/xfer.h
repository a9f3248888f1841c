/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * xfer.h - moves the bytes of a READ or WRITE between the client and the object, through the
 * iod's buffers or directly through windows (parts of the object that are mapped: window.h).
 *
 * A transfer is cut into chunks.  A chunk has the size of a transfer unit, or less if buffers
 * are scarce: then sessions get one buffer each in turn (zone.h).  Two chunks are in progress
 * at a time: one moves over the network while the other one accesses the file (PVFS over
 * InfiniBand, ICPP 2003, section 3.3: transfer and file access overlap).
 *
 *   begin(chunk)  The chunk has a buffer.  If x->mapped, it may have windows instead; its pieces
 *                 in them move in one network transfer.  The operation moves the data, then calls
 *                 xfer_chunk_complete().
 *   end(xfer)     No chunk is in progress.  All bytes were moved, or status is set.
 */
#ifndef XFER_H
#define XFER_H

#include "server/copyset/change.h"
#include "server/state/worker.h"

#define XFER_CHUNKS 2u
/* of a write in a copyset: one more is at the other members, and one is stored here */
#define XFER_GROUP_CHUNKS 4u
#define CHUNK_WINDOWS 16u

struct chunk;
/* Called on the worker's thread; status: as of file_access.done(). */
typedef void chunk_file_fn(struct chunk *c, int status);

struct chunk {
	struct xfer *x;
	bool busy;
	bool arrived; /* WRITE: its bytes have arrived */
	bool started; /* ... and their change has started, or will not (group writes) */
	struct zone_buf *buf; /* or NULL: in windows */
	struct window *window[CHUNK_WINDOWS];
	unsigned int nwindow;
	/* pieces in windows; they lie in worker->piece during begin() */
	unsigned int npiece;
	uint64_t pos; /* in the transfer, in the order of the regions */
	struct file_access access;
	chunk_file_fn *on_file_complete;
	struct rpc_bulk bulk;
	/* WRITE into windows: entry is in the gate, and this fires at its expiry */
	bool entered;
	struct change_entry entry;
	struct rpc_timer expiry;
};

struct xfer_ops {
	void (*begin)(struct chunk *c);
	void (*end)(struct xfer *x);
};

struct xfer {
	const struct xfer_ops *ops;
	struct worker *worker;
	struct iod_session *ses;
	struct zones *zones; /* its buffers come from here, */
	struct zone_owner *owner; /* ... in the turns of this owner */
	struct rpc_req *req; /* NULL: it was answered */
	struct store_obj *obj; /* NULL: it does not exist */
	const struct wire_mem *mem;
	unsigned int nmem;
	bool write;
	bool mapped; /* may use windows */
	bool broken; /* the connection broke */
	bool filling; /* start_chunks() is running: xfer_chunk_complete() must not call it */
	int status; /* the first error, or 0 */
	unsigned int nchunks; /* at most this many are in progress */
	unsigned int busy; /* chunks in progress */
	uint64_t total; /* bytes to move */
	uint64_t next; /* bytes given to chunks */
	uint64_t started; /* READ: bytes given to the network */
	uint64_t size; /* READ: size of the object at the start */
	bool before_end; /* READ: all regions end before the end of the object */
	/* WRITE: end of the range written through windows, or 0 */
	uint64_t windows_end;
	/* the region in which `next` lies; skip: bytes of it before `next` */
	unsigned int seg_at;
	uint64_t skip;
	struct zone_wait wait;
	/* fires at the deadline while it waits for a buffer */
	struct rpc_timer deadline;
	LIST_ENTRY(xfer) link;
	/* WRITE: chunk that is being written to the file */
	struct chunk *writing;
	struct chunk chunk[XFER_GROUP_CHUNKS];
	struct dirty_object
		*dirty; /* WRITE: until the data is written; or NULL */
	struct change_flush flush;
	unsigned int nseg;
	struct store_seg *seg; /* few or many */
	/* for more: manymax pieces; kept for the next transfer */
	struct store_seg *many;
	size_t manymax;
	struct store_seg few[WIRE_REGION_MAX];
};

/*
 * Makes a transfer for req, with buffers of the worker's zones.  For a READ, WRITE or ORDER, its
 * pieces are the regions of the request; for a list request, they are the iod's share.  Adjacent pieces become one.  NULL: req was answered
 * with an error, because there is no memory or the iod's share is shorter than the request says.
 */
struct xfer *xfer_create(struct worker *w, struct rpc_req *req,
			 const struct xfer_ops *ops);
/* Puts the object and the session.  req must have been answered or aborted. */
void xfer_free(struct xfer *x);
/* Moves x->total bytes: calls begin() for each chunk, and end() at the end. */
void xfer_start(struct xfer *x);
/* Whether the session of x may use windows. */
bool xfer_may_use_windows(const struct xfer *x);
/* Whether x has at least WINDOW_PIECES pieces. */
bool xfer_has_many_pieces(const struct xfer *x);
/* Call it from end(): repeats the transfer from the beginning. */
void xfer_restart(struct xfer *x);
/* The chunk has ended: releases its buffer or windows, and starts the next chunk. */
void xfer_chunk_complete(struct chunk *c, int status);

/* Ends the transfers of the session that wait for a buffer, with this status (-errno). */
void xfer_stop_session(struct worker *w, const struct iod_session *ses,
		       int status);

/* At the end of the iod: frees the transfers in progress and the spare ones. */
void xfer_free_all(struct worker *w);

/* ---- write_data.c ---- */

/*
 * If the bytes of the write came with the request, writes them to x->obj, then calls end(), possibly
 * at once.  False: they did not come, and nothing was done.
 */
bool xfer_write_message_data(struct xfer *x);
/* Fetches the bytes of the write and writes them to x->obj; then calls end(). */
void xfer_write_chunks(struct xfer *x);
/* The begin() of such transfers. */
void xfer_fetch_chunk(struct chunk *c);

/* ---- chunk.c ---- */

/*
 * Takes the next pieces that lie in windows, as many as fit into one chunk.  Returns their sum in
 * bytes; the caller releases the windows by chunk_unmap().  0: the next piece lies in no window,
 * and c->npiece is 0.
 */
uint64_t chunk_map(struct chunk *c);
/*
 * Call it before the data of a WRITE arrives in windows.  The data goes directly into the object,
 * so the change enters the gate (gate.h).  If it is still inside at its expiry, the connection is
 * closed.  -ETIMEDOUT: the expiry has passed.  -ESTALE: the object was replaced since it was
 * mapped; x->broken is set, and the client repeats the request.
 */
int chunk_enter_gate(struct chunk *c);
void chunk_unmap(struct chunk *c);
/*
 * Read or write c->access.io, then call on_file_complete(c, status), possibly at once.  A write is
 * a change (change.h).
 */
void chunk_read_file(struct chunk *c, chunk_file_fn *on_file_complete);
void chunk_write_file(struct chunk *c, chunk_file_fn *on_file_complete);
/*
 * Calls block(&c->access), which may block, on a thread of the pool, then on_file_complete() with
 * its result.
 */
void chunk_run_in_pool(struct chunk *c,
		       int (*block)(struct file_access *access),
		       chunk_file_fn *on_file_complete);
/*
 * Starts to move the chunk's bytes between its buffer and the client; calls done() at the end.
 * -ENOTCONN: there is no connection; x->broken is set.  Other errors are those of
 * rpc_bulk_start(). After an error done() is not called.
 */
int chunk_move_data(struct chunk *c, enum rpc_bulk_dir dir,
		    void (*done)(struct rpc_bulk *bulk, int status));

#endif
