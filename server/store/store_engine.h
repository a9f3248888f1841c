/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * store_engine.h - moving bytes between memory and objects.
 *
 * An engine executes a struct store_io.  "cached" copies through the page cache: at once, or on a
 * thread of the pool.  It uses the pool for reads that have to wait for the disk, for all writes
 * of a store that is not in memory, for writes with has_direct_writer set, and for more than a
 * thousand pieces.  "direct" moves large transfers past the page cache, by libaio or on the pool.
 */
#ifndef STORE_ENGINE_H
#define STORE_ENGINE_H

#include <stddef.h>
#include <stdint.h>

#include "server/store/aio.h"
#include "server/store/object_store.h"
#include "server/store/disk_pool.h"

/*
 * An access: moves len bytes between buf and the pieces of obj, from skip bytes into the first
 * piece on.  The caller owns the struct, buf and seg, and keeps them until the access has ended.
 * A read fills the part of buf beyond the end of the object with zeros.
 */
struct store_io {
	struct store_obj *obj;
	struct disk_pool *pool;
	/* takes turns with others; NULL: the pool's own client */
	struct disk_client *client;
	struct aio *aio; /* for "direct"; NULL: use the pool */
	enum disk_work_kind write_kind; /* queue of a write that uses the pool */
	/* the caller has called store_obj_enter(), and calls store_obj_leave() */
	bool in_gate;
	/* a write may have to wait for a client that writes directly */
	bool has_direct_writer;
	/* the sum of their lengths is at least skip + len */
	const struct store_seg *seg;
	uint64_t skip;
	void *buf;
	size_t len;
	/* a write that has not begun by this time fails with -ETIMEDOUT; clock_boot() */
	uint64_t expiry;
	/* called if read() or write() returned -EINPROGRESS; from any thread */
	void (*done)(struct store_io *io, int status);
	/* private to the engine */
	struct disk_work work;
	struct aio_op op;
	size_t pos; /* bytes read */
	struct gate_entry entry; /* a write that has begun */
};

struct store_engine {
	const char *name;
	/* return 0 or -errno if the access has ended, or -EINPROGRESS: then done() is called */
	int (*read)(struct store_io *io);
	int (*write)(struct store_io *io);
	/*
	 * Maps len bytes of the object from off, a multiple of the page size, for reading.  The
	 * mapping shows later changes.  The caller unmaps it by munmap().  Returns NULL if it is
	 * not possible.  The pointer is NULL if the engine does not support it.
	 *
	 * In a store in memory, the caller may also write to parts that are store_obj_present(),
	 * and then calls store_obj_touch().  The caller must let only the kernel access the
	 * memory: after a truncation, an access by the process itself faults.
	 */
	void *(*map)(struct store_obj *obj, uint64_t off, size_t len);
};

extern const struct store_engine store_engine_cached;
extern const struct store_engine store_engine_direct;

#endif
