/* SPDX-License-Identifier: BSD-2-Clause */
/* io_int.h - what the files of io.h share. */
#ifndef IO_INT_H
#define IO_INT_H

#include "client/lib/io/direct_int.h"
#include "client/lib/io/io.h"
#include "client/lib/io/list_req_int.h"
#include "client/lib/io/regs_int.h"

#define IO_DEPTH 2 /* requests in flight at a server, at most */
#define IO_SERVERS 16 /* without allocation */
#define IO_SLOTS (IO_SERVERS * IO_DEPTH)
#define IO_IOVS 16
#define IO_GAPS 16

/* A server of the file, in this operation. */
struct io_server {
	struct plan_cur cur; /* what it was not asked for yet */
	uint64_t size; /* of its object, as of its last reply */
	unsigned int busy; /* requests in flight */
	bool seen; /* size is set */
	bool answered; /* a request */
	bool dry; /* nothing more to read there */
};

/* A request in flight. */
struct io_slot {
	struct rpc_call rpc;
	struct io *io;
	uint32_t k;
	uint64_t total;
	bool in; /* a read that is answered with its bytes */
	struct plan_cur from; /* where its bytes begin */
	struct pack *pack; /* lists: its bytes, or NULL: in place */
	struct io_slot *next; /* free */
};

/* Bytes [skip, total) of a request were not there. */
struct io_gap {
	struct plan_cur from;
	uint64_t skip, total;
	uint32_t k;
};

struct io {
	struct op op;
	struct session *s;
	const struct plan *plan;
	uint64_t handle;
	uint32_t flags;
	bool write;
	bool list; /* goes as list requests */
	unsigned int depth; /* requests in flight at a server */
	uint64_t deadline; /* of what was not preceded by an answer */
	uint32_t user; /* asker.h */
	bool moved; /* something was */
	bool bold; /* lists: memory is registered by hints or in groups */
	struct list_limits limits;

	uint32_t nserver;
	struct io_server *server; /* nserver */
	struct io_slot *slot; /* nserver * IO_DEPTH */
	struct io_slot *free;
	struct rail_mem *mem; /* nmem: the caller's memory */
	struct rail_mem **area; /* nmem, into mem */
	unsigned int nmem; /* lists: 0 until it is needed */
	bool doubt; /* a server may still use it */
	bool begun; /* a write that a server has done in part, or may have */
	bool done[WIRE_IOD_MAX]; /* there without a message: direct_int.h */
	struct io_gap *gap;
	unsigned int ngap, maxgap;

	struct io_server few_server[IO_SERVERS];
	struct io_slot few_slot[IO_SLOTS];
	struct rail_mem few_mem[IO_IOVS];
	struct rail_mem *few_area[IO_IOVS];
	struct io_gap few_gap[IO_GAPS];
};

/* Runs the operation: io.c.  The caller frees it after any result. */
int io_run(struct io *io);
/* io_mem.c: for a plan and nserver; 0 or -ENOMEM, to be freed in any case. */
int io_alloc(struct io *io);
void io_free(struct io *io);
/* Whether the slot's request is a read that is answered with its bytes. */
bool io_reads_inline(const struct io *io, struct io_slot *slot, uint64_t total);
/* What servers do with the caller's memory: TP_REMOTE_*. */
unsigned int io_access(const struct io *io);

/*
 * The memory of the next *len bytes from the cursor on, neighbours as one, at
 * most WIRE_MEM_MAX pieces; cur and *len are then behind them.
 */
unsigned int io_pieces(const struct io *io, struct plan_cur *cur, uint64_t *len,
		       struct iovec *piece);
/* Sends what slot->rpc names; the rest of it is filled in. */
void io_start_call(struct io *io, struct io_slot *slot);
/* A reply to READ, or none where it got all: io_read.c. */
int io_read_whole(struct io *io, struct io_slot *slot);
int io_read_taken(struct io *io, struct io_slot *slot,
		  const struct wire_msg *reply);

/* io_hear.c: before a write, in the driving thread. */
void io_hear(const struct io *io);
/* io_list.c: whether the plan is better off as a list; prepares for it. */
bool io_list_wanted(const struct plan *plan);
void io_list_begin(struct io *io);
/* Counts; true: after that result the same may work piece by piece. */
bool io_list_end(struct io *io, int rc);
/* The server's next request: 1 on its way, 0 there is none, or -errno. */
int io_list_send(struct io *io, struct io_slot *slot, struct io_server *sv);
/* The request is over; its buffer is free. */
void io_list_done(struct io *io, struct io_slot *slot, int status);

#endif
