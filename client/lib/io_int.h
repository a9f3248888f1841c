/* SPDX-License-Identifier: BSD-2-Clause */
/* io_int.h - what the files of io.h share. */
#ifndef IO_INT_H
#define IO_INT_H

#include "io.h"

#define IO_DEPTH 2 /* requests in flight at a server */
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
	bool dry; /* nothing more to read there */
};

/* A request in flight. */
struct io_slot {
	struct rpc_call rpc;
	struct io *io;
	uint32_t k;
	uint64_t total;
	struct plan_cur from; /* where its bytes begin */
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

	uint32_t nserver;
	struct io_server *server; /* nserver */
	struct io_slot *slot; /* nserver * IO_DEPTH */
	struct io_slot *free;
	struct rail_mem *mem; /* plan->niov: the caller's memory */
	struct rail_mem **area; /* plan->niov, into mem */
	bool known; /* mem is filled in */
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
void io_free(struct io *io);

/* A reply to READ: io_read.c. */
int io_read_taken(struct io *io, struct io_slot *slot,
		  const struct wire_msg *reply);

#endif
