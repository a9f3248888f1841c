/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * iodc.h - a minimal client of one iod, for tests: blocking calls over the real rpc and transport.
 * All memory is in one registered arena. Unexpected errors end the test.
 */
#ifndef IODC_H
#define IODC_H

#include <stdbool.h>

#include "common/comm/rpc.h"

/*
 * The session number of a manager, unless a test wants another one; it survives restarts of iods.
 */
#define IODC_MGR 0x1177
#define IODC_FSID 0x00c0ffee00c0ffeeull
#define IODC_ARENA (8u << 20)
#define IODC_REPLY WIRE_BODY_MAX

/* As Check's assertions, for any thread: ends the program. */
#define must(x)                                                                \
	do {                                                                   \
		if (!(x))                                                      \
			must_failed(#x, __FILE__, __LINE__);                   \
	} while (0)
void must_failed(const char *what, const char *file, int line)
	__attribute__((noreturn));

struct iodc {
	struct tp_dev *dev;
	struct rpc_ctx *ctx;
	struct rpc_peer *peer;
	uint64_t session;
	struct tp_mr *mr;
	uint8_t *arena; /* IODC_ARENA bytes */
	unsigned int timeout_ms; /* time-out of a call, initially 10000 */
	/* what the calls name; initially the iod's own copyset */
	struct copyset_ref copyset;
	/* the last reply */
	uint64_t body[8];
	uint8_t tail[IODC_REPLY];
	size_t tail_len;
};

/* Connects.  session 0 means a random number, or IODC_MGR for a manager. */
void iodc_open(struct iodc *c, const struct addr *addr, enum wire_role role,
	       uint64_t session);
/* As iodc_open(), with these values in struct rpc_peer_attr. */
struct iodc_with {
	const struct prover *prover;
	const struct rpc_caps_source *caps;
	uint32_t index; /* of the iod */
	uint32_t features;
};
void iodc_open_with(struct iodc *c, const struct addr *addr,
		    enum wire_role role, uint64_t session,
		    const struct iodc_with *with);
/* Connects as the manager, claims the iod in the first term, and gives it a lease of an hour. */
void iodc_open_mgr(struct iodc *c, const struct addr *addr);
/* As iodc_open_mgr(), and disconnects. */
void iodc_serve(const struct addr *addr);
void iodc_close(struct iodc *c);

/* Sends a request with a body and tail items (at most two).  Returns the status of the reply. */
struct iodc_item {
	const void *ptr;
	size_t len;
};
int iodc_call(struct iodc *c, unsigned int op, const void *body, size_t len,
	      const struct iodc_item *tail, unsigned int ntail);

/*
 * READ and WRITE. The pieces `mem` have offsets in the arena. If mem is NULL, the data is in the
 * message, and at the start of the arena. Returns the status; done and size are from the reply.
 */
struct iodc_io {
	uint64_t handle;
	const struct wire_region *reg;
	unsigned int nreg;
	const struct iodc_mem {
		uint32_t off, len;
	} * mem;
	unsigned int nmem;
	uint64_t total;
	uint32_t flags;
	uint64_t done, size; /* results */
};
/* Puts the lists into a message: the pieces of the object, then those of the arena. */
void iodc_put_lists(struct iodc *c, struct wire_out *out,
		    const struct iodc_io *io);
/* Sends the message that was begun in out, with the first data_len bytes of the arena. */
int iodc_send(struct iodc *c, struct wire_out *out, unsigned int op,
	      size_t data_len);
int iodc_read(struct iodc *c, struct iodc_io *io);
int iodc_write(struct iodc *c, struct iodc_io *io);
/* Reads or writes one region, with memory at the start of the arena. */
int iodc_pread(struct iodc *c, uint64_t handle, uint64_t off, uint32_t len,
	       uint64_t *done);
int iodc_pwrite(struct iodc *c, uint64_t handle, uint64_t off, uint32_t len);

int iodc_sync(struct iodc *c, uint64_t handle);
int iodc_remove(struct iodc *c, uint64_t handle);
int iodc_resize(struct iodc *c, uint64_t handle, uint64_t size);
/*
 * As iodc_resize(), with the number id, `span` ns from the beginning of the request to its
 * deadline, and flags WIRE_RZ_*.
 */
int iodc_resize_once(struct iodc *c, uint64_t handle, uint64_t size,
		     uint64_t id, uint64_t span, uint32_t flags);
int iodc_fence(struct iodc *c, uint64_t session);
int iodc_fence_by(struct iodc *c, uint64_t session, uint32_t flags);
int iodc_claim(struct iodc *c, uint64_t term);
int iodc_lease(struct iodc *c, uint64_t ms);
int iodc_size(struct iodc *c, uint64_t handle, uint64_t *size);

/* Creates a temporary directory for a store.  path has room for 64 bytes. */
void iodc_mkdir(char *path);
/* The same in memory.  Returns false if there is no tmpfs at /dev/shm. */
bool iodc_mkdir_memory(char *path);
void iodc_rmdir(const char *path);

#endif
