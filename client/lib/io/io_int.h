/* SPDX-License-Identifier: BSD-2-Clause */
/* io_int.h - shared by the files that implement io.h. */
#ifndef IO_INT_H
#define IO_INT_H

#include "client/lib/io/direct_int.h"
#include "client/lib/io/io.h"
#include "client/lib/io/list_req_int.h"
#include "client/lib/session/copyset_call.h"

#define IO_DEPTH 2 /* maximum of requests in flight at a server */
#define IO_SERVERS 16 /* servers without allocation */
#define IO_SLOTS (IO_SERVERS * IO_DEPTH)
#define IO_IOVS 16
#define IO_GAPS 16

/* A server of the file in this operation. */
struct io_server {
	struct plan_cur cur; /* the part that has not been requested yet */
	uint64_t size; /* size of its object, from its last reply */
	unsigned int busy; /* requests in flight */
	bool seen; /* size is set */
	bool answered; /* it has answered a request */
	bool at_eof; /* nothing more to read there */
};

/* A request in flight. */
struct io_slot {
	struct copyset_call call;
	struct io *io;
	uint32_t k;
	uint64_t total;
	bool in; /* a read: the reply will contain the data */
	struct plan_cur from; /* position of its first byte */
	/* lists: its packed data, or NULL: transferred in place */
	struct pack *pack;
	struct io_slot *next; /* next free slot */
};

/* Bytes [skip, total) of a request are missing in the object. */
struct io_gap {
	struct plan_cur from;
	uint64_t skip, total;
	uint32_t k;
};

struct io {
	struct drive_op op;
	struct session *s;
	const struct io_plan *plan;
	uint64_t handle;
	uint32_t flags;
	bool write;
	bool list; /* sent as list requests */
	unsigned int depth; /* maximum of requests in flight at a server */
	uint64_t deadline; /* deadline until the first answer */
	uint32_t user; /* see call_context.h */
	bool moved; /* data was transferred */
	bool group_register; /* lists: memory is registered by hints or in groups */
	struct list_limits limits;

	uint32_t nserver;
	struct io_server *server; /* nserver elements */
	struct io_slot *slot; /* nserver * IO_DEPTH elements */
	struct io_slot *free;
	struct rail_mem *mem; /* nmem elements: the caller's memory */
	struct rail_mem **area; /* nmem pointers into mem */
	unsigned int nmem; /* lists: 0 until it is needed */
	bool mem_maybe_in_use; /* a server may still use the memory */
	bool begun; /* a server has done a write in part, or may have */
	/* server is finished without a message: direct_int.h */
	bool done[WIRE_IOD_MAX];
	struct io_gap *gap;
	unsigned int ngap, maxgap;

	struct io_server few_server[IO_SERVERS];
	struct io_slot few_slot[IO_SLOTS];
	struct rail_mem few_mem[IO_IOVS];
	struct rail_mem *few_area[IO_IOVS];
	struct io_gap few_gap[IO_GAPS];
};

/* How servers access the caller's memory: TP_REMOTE_*. */
static inline unsigned int io_access(const struct io *io)
{
	return io->write ? TP_REMOTE_READ : TP_REMOTE_WRITE;
}

/*
 * io_gaps.c: handle the reply to READ.  io_read_whole() is for a read that needs no reply
 * because all data arrived.  Return 0 or -errno.
 */
int io_read_whole(struct io *io, struct io_slot *slot);
int io_read_taken(struct io *io, struct io_slot *slot,
		  const struct wire_msg *reply);

/*
 * io_gaps.c: called after a read with gaps.  Sets *n and *doubt (io_read()), and zeros the
 * gaps before the end of the file.  Returns 0 or -errno.
 */
int io_fill_gaps(struct io *io, uint64_t least, uint64_t *n, bool *doubt);

/*
 * io_list.c: io_list_wanted() is true if the plan is faster as a list; io_list_begin()
 * prepares for it.
 */
bool io_list_wanted(const struct io_plan *plan);
void io_list_begin(struct io *io);
/* Counts the registrations.  True: after result rc, a transfer piece by piece may succeed. */
bool io_list_end(struct io *io, int rc);
#define IO_LIST_MSG_MAX                                                        \
	(sizeof(struct wire_hdr) + sizeof(struct wire_list) +                  \
	 WIRE_VEC_MAX * sizeof(struct wire_vec) +                              \
	 WIRE_MEM_MAX * sizeof(struct wire_mem))
/*
 * Builds the message of a request in buf, and slot->rpc for it.  in: the reply to the read
 * will contain the data.  Returns 0 or -errno.
 */
int io_list_build(struct io *io, struct io_slot *slot,
		  const struct list_req *req, bool in,
		  uint64_t buf[IO_LIST_MSG_MAX / 8]);
/* Called when the request has ended: releases its buffer. */
void io_list_done(struct io *io, struct io_slot *slot, int status);

/*
 * io_list.c: the memory that a list call registers: each parent allocation that the
 * caller named, or each group of neighbours in one mapping (PVFS over InfiniBand, ICPP
 * 2003, section 5).  regs_max() is the maximum number of elements that regs_make() needs.
 */
unsigned int regs_max(const struct io_plan *plan);
/*
 * Chooses the memory to register for the plan: fills mem[] with disjoint pieces that contain
 * all memory of the plan, and area[] with pointers into mem[].  Returns the number of pieces.
 * bold: a piece may be a whole allocation (hints) or a group of neighbours; otherwise area[i]
 * is the plan's iov[i].
 */
unsigned int regs_make(const struct io_plan *plan, unsigned int access,
		       bool bold, struct rail_mem *mem, struct rail_mem **area);

#endif
