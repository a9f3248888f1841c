/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * object_store.h - the objects of an iod on a local file system.
 *
 *   DIR/pvfs-stamp                          identity and owner of the store
 *   DIR/fences                              fenced sessions, and the manager's term
 *   DIR/copysets                            groups of iods (server/copyset/assignments.h)
 *   DIR/objects/xx/yy/KEY                   one sparse file per object (object_key.h)
 *
 * All functions except store_open() and store_close() may be called from any thread.  Errors of
 * the file system (ENOSPC, EDQUOT, EFBIG, EIO, ...) are returned unchanged.
 */
#ifndef OBJECT_STORE_H
#define OBJECT_STORE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/statvfs.h>

#include "server/store/gate.h"
#include "common/dist/object_key.h"
#include "common/util/log.h"
#include "server/store/block_table.h"
#include "server/store/size_table.h"

struct object_store;
struct store_obj;
struct disk_client;
struct disk_pool;
struct timing;

struct object_store_attr {
	const char *dir;
	uint64_t fsid;
	uint32_t index; /* of the iod */
	/* object files kept open, approximately; 0: 1024 */
	unsigned int max_open;
	/* further files kept open, while writes of clients to them may still fail */
	unsigned int max_kept;
	/* writes out the data of such files before they are closed; NULL: they are just closed */
	struct disk_pool *pool;
	/* entries of all sessions (dirty_objects.h); 0: WRITEBACK_ERRORS_MAX */
	unsigned int max_marks;
	/* bytes of memory for shared blocks (block_table.h); 0: none */
	uint64_t share;
	/* the earlier store is lost: the manager may accept a new one */
	bool lost;
	bool shows; /* makes the table of sizes for RDMA: store_size_table() */
	const struct log *log;
};
/* Errors are logged with cause and remedy, as by stamp_open(), except a lack of memory or of
 * descriptors. */
int store_open(const struct object_store_attr *attr,
	       struct object_store **store);
/* Call it when all references to objects have been put. */
void store_close(struct object_store *store);
int store_statfs(struct object_store *store, struct statvfs *fs);
/* A number that is equal for stores on the same file system of one host; 0: not known. */
uint64_t store_disk(struct object_store *store);
/* The store lies in a tmpfs: no access waits for a disk. */
bool store_in_memory(const struct object_store *store);
/* The file system supports O_DIRECT. */
bool store_can_direct(const struct object_store *store);
bool store_obj_in_memory(const struct store_obj *obj);

struct store_stat {
	uint64_t size; /* bytes */
	uint64_t blocks; /* allocated, in units of 512 bytes */
	uint64_t mtime; /* ns since the epoch */
	bool padded; /* space may be allocated beyond the object's end */
};
/* The object has no holes. */
static inline bool store_whole(const struct store_stat *st)
{
	return !st->padded && st->blocks * 512 >= st->size;
}
/* All zero if the object does not exist. */
int store_stat(struct object_store *store, struct object_key key,
	       struct store_stat *st);
/*
 * Removes the object.  Open references can still access its data.  0 also if the object does not
 * exist.  durable: the removal is on stable storage when this returns.  May block on the disk.
 */
int store_remove(struct object_store *store, struct object_key key,
		 bool durable);

/*
 * A walk over all objects: by leaf directory, and by key within each (object_key_is_after()).
 * Start with a zero place.
 */
#define STORE_LEAF_END UINT32_MAX
struct store_place {
	uint32_t leaf; /* STORE_LEAF_END: the walk is complete */
	struct object_key after; /* keys up to this one of the leaf are done */
};
/*
 * Sets key[] to the next *n keys, at most cap, and advances *place.  *n may be 0 before the
 * end of the walk.  May block on the disk.
 */
int store_walk(struct object_store *store, struct store_place *place,
	       struct object_key *key, uint32_t cap, uint32_t *n);

/*
 * Sets *obj to an open object, with a reference for the caller, who puts it.  create: makes the
 * object if it does not exist.  -ENOENT: the object does not exist, and create is false.
 */
int store_obj_get(struct object_store *store, struct object_key key,
		  bool create, struct store_obj **obj);
struct store_obj *store_obj_ref(struct store_obj *obj);
void store_obj_put(struct store_obj *obj);
struct object_key store_obj_key(const struct store_obj *obj);

/*
 * Sets *done to the number of bytes that were read; fewer than len only at the end of the object.
 */
int store_obj_read(struct store_obj *obj, void *buf, size_t len, uint64_t off,
		   size_t *done);
/*
 * As store_obj_read(), but does not wait for the disk: -EAGAIN after *done bytes if the rest has
 * to come from the disk.  On a file system without RWF_NOWAIT, it waits.
 */
int store_obj_read_cached(struct store_obj *obj, void *buf, size_t len,
			  uint64_t off, size_t *done);
/* Writes all bytes.  After an error, a part of them may be written. */
int store_obj_write(struct store_obj *obj, const void *buf, size_t len,
		    uint64_t off);
/*
 * As store_obj_read() and store_obj_write(), past the page cache where possible.  Parts that are
 * not aligned to STORE_BLOCK bytes, in the object or in memory, go through the page cache.  The
 * kernel keeps disk and page cache coherent.  May block on the disk.
 */
#define STORE_BLOCK 4096u
int store_obj_read_direct(struct store_obj *obj, void *buf, size_t len,
			  uint64_t off, size_t *done);
int store_obj_write_direct(struct store_obj *obj, const void *buf, size_t len,
			   uint64_t off);
/* The O_DIRECT descriptor, owned by the object; -1: none is available. */
int store_obj_direct_fd(struct store_obj *obj);
enum store_space {
	STORE_ALLOCATE, /* allocate the range */
	STORE_PUNCH, /* deallocate the range; it reads as zeros.  Needs keep */
	STORE_ZERO, /* allocate the range and fill it with zeros */
};
/*
 * As fallocate(2) for len bytes at off.  keep: the size stays.  Not keep: the object grows at
 * least to the end of the range.  After an error, a part may be done.  May block on the disk.
 */
int store_obj_space(struct store_obj *obj, enum store_space how, bool keep,
		    uint64_t off, uint64_t len);
/*
 * Sets *at to the offset of the next data, or with `hole` of the next hole, from off on.  The end
 * of the object counts as a hole.  -ENXIO: there is no data at or after off.
 */
int store_obj_seek(struct store_obj *obj, bool hole, uint64_t off,
		   uint64_t *at);
int store_obj_resize(struct store_obj *obj, uint64_t size);
int store_obj_stat(struct store_obj *obj, struct store_stat *st);
/*
 * Call them around each change of an object's bytes or size, on the thread that makes the change.
 * They call gate_enter() and gate_leave(), and tell the tables that clients read by RDMA.  expiry:
 * of the change, clock_boot().  -ETIMEDOUT: the expiry has passed; do not make the change.
 */
int store_obj_enter(struct store_obj *obj, uint64_t expiry,
		    struct gate_entry *entry);
void store_obj_leave(struct store_obj *obj, struct gate_entry *entry);
/*
 * Returns the gate of the store, for gate_is_shut() and gate_wait(): a request must wait while an
 * object that it uses has a late change (gate.h).
 */
struct gate *store_gate(struct object_store *store);
/* The sizes that clients read by RDMA; NULL without attr.shows. */
struct size_table *store_size_table(struct object_store *store);
/* The blocks that clients read by RDMA; NULL without attr.share. */
struct block_table *store_block_table(struct object_store *store);
/* A piece of an object. */
struct store_seg {
	uint64_t off, len;
};

/* The length of a piece from skip bytes into the segment on, at most left. */
static inline size_t store_piece_len(const struct store_seg *seg, uint64_t skip,
				     size_t left)
{
	return seg->len - skip < left ? (size_t)(seg->len - skip) : left;
}
/*
 * Records that these n pieces of the object were read; size: bytes of the object.  Shares a few
 * of the pieces' blocks if they are read for the second time (block_table.h) and the object is of
 * the own group.  Waits for the disk only where store_obj_read_cached() does.
 */
void store_obj_note_read(struct store_obj *obj, const struct store_seg *seg,
			 unsigned int n, uint64_t size);
/*
 * Call them around a change of the object by another process (a borrower).  They do what
 * store_obj_enter() and store_obj_leave() do, without the gate.
 */
void store_change_begin(struct object_store *store, struct object_key key);
void store_change_end(struct object_store *store, struct object_key key);
/*
 * Returns a descriptor of a new open file description of the object's file, to be passed to
 * another process.  The caller closes it.  read, write: its access; at least one.  -errno.
 */
int store_obj_lend(struct store_obj *obj, bool read, bool write);
struct store_copy_control {
	/* called often during the copy; false: give up */
	bool (*go_on)(void *arg);
	void *arg;
};
/*
 * Replaces the object's file by a copy.  References (store_obj) then use the copy; a borrower
 * that has the old file open no longer has access to the object.  The caller makes sure that no
 * borrower begins a change during the call.  0 also if the object does not exist.  -EAGAIN: a
 * change by this process was in progress at the start of the call, or began during the call; try
 * again.  -ENOSPC: the copy does not fit; no space was taken.  -EOPNOTSUPP: the store is not in
 * memory.  -ECANCELED: control->go_on() returned false.  -ENOMEM, or -errno of the file system.
 */
int store_obj_replace(struct object_store *store, struct object_key key,
		      const struct store_copy_control *control);
/* How often the object's file was replaced since this reference was opened. */
unsigned int store_obj_replacements(const struct store_obj *obj);
/*
 * Returns a shared mapping of len bytes from off, which the caller unmaps by munmap(): readable,
 * and writable if the store is in memory.  NULL: not possible.
 */
void *store_obj_map(struct store_obj *obj, uint64_t off, size_t len);
/*
 * Whether all of [off, off + len) lies before the end of the object and is allocated, so that a
 * write there needs no further space.  st: the present stat of the object.
 */
bool store_obj_present(struct store_obj *obj, const struct store_stat *st,
		       uint64_t off, uint64_t len);
/* Call it after writes through a mapping: sets the modification time at once. */
int store_obj_touch(struct store_obj *obj);
/* Whether the object was removed; its data is freed with the last reference. */
bool store_obj_removed(const struct store_obj *obj);
/*
 * Makes data, size and name of the object durable.  Blocks on the disk.  An error is recorded for
 * all sessions that wrote to the object (dirty_objects.h).
 */
int store_obj_sync(struct store_obj *obj);
/* Writes the data to the disk, without size and name.  No flush of the object may run
 * concurrently. */
int store_obj_write_out(struct store_obj *obj);
/*
 * A request for store_obj_sync() by the pool.  The caller owns the struct, and keeps it until
 * done().  A thread of the pool calls done(), which must not block.  status: 0 or -errno.
 */
struct flush_wait {
	void (*done)(struct flush_wait *wait, int status);
	struct disk_client *client; /* private */
	bool data_only; /* private */
	STAILQ_ENTRY(flush_wait) link; /* private */
};
/*
 * Starts a flush.  Flushes of one object that wait at the same time share one fdatasync (group
 * commit).  client: whose turn the flush takes; NULL: the pool's own.
 */
void store_obj_flush(struct store_obj *obj, struct disk_pool *pool,
		     struct disk_client *client, struct flush_wait *wait);
/* How many flushes the pool made, and how long they took. */
const struct timing *store_flush_times(const struct object_store *store);

/*
 * Claiming a store.  A store that was just made in an empty directory may be a mistake: the file
 * system with the real store may not be mounted.  A used store may be an old copy.  Only the
 * manager can tell.  Until the manager has claimed the store, the iod must not serve anything
 * from it.
 */
struct store_claim {
	uint64_t owner; /* identity of the manager's database */
	/* identity of the store that the manager expects here; 0: none */
	uint64_t store;
	bool fresh; /* the database is new, so all stores have to be new */
	bool ask; /* only judge: record nothing */
};
enum store_verdict {
	STORE_OURS,
	STORE_REPLACED, /* the store is not the one that has the iod's data */
	STORE_FOREIGN, /* the store belongs to another database */
};
/*
 * Returns a store_verdict or -errno.  After STORE_OURS the claim is durable, unless claim->ask.
 * Blocks on the disk.
 */
int store_claim(struct object_store *store, const struct store_claim *claim);
/* Whether the store was claimed since it was opened. */
bool store_claimed(const struct object_store *store);
/* The identity of the store; 0: it was made before stores had one. */
uint64_t store_identity(struct object_store *store);
/* Whether the store was made and never claimed, so it has no data. */
bool store_is_new(struct object_store *store);

/*
 * The fenced sessions, which the iod refuses for ever, also after a restart.  At most
 * STORE_FENCE_MAX are kept: then the newest replaces the oldest.  The space for all of them is
 * allocated when the store is opened.
 */
#define STORE_FENCE_MAX 65536u
/*
 * Fences a session in memory: from now on store_fence_has() is true.  -ENOSPC: it is not fenced,
 * because STORE_FENCE_MAX earlier ones could not be written to the file yet.
 */
int store_fence_mark(struct object_store *store, uint64_t session);
/*
 * Writes the fences to the file.  After 0 the fences of all sessions that were marked before are
 * durable.  -errno: logged; the sessions stay fenced in memory.  Blocks on the disk.
 */
int store_fence_write(struct object_store *store);
/* store_fence_mark() and store_fence_write(). */
int store_fence_add(struct object_store *store, uint64_t session);
bool store_fence_has(struct object_store *store, uint64_t session);
void store_fence_each(struct object_store *store,
		      void (*fn)(void *arg, uint64_t session), void *arg);

/* The highest term of a manager that was recorded; 0: none. */
uint64_t store_term(struct object_store *store);
/* Whether the store obeys the manager with this term and session (claimer). */
bool store_obeys(struct object_store *store, uint64_t term, uint64_t claimer);

/*
 * Asks the store to obey the manager with this term and session (claimer).  The store obeys the
 * manager with the highest term; of two with the same term, the one with the lower session.  0:
 * it obeys this one, durably.  -ESTALE: it obeys another manager.  Other errors are logged.
 * Blocks on the disk.
 */
int store_term_write(struct object_store *store, uint64_t term,
		     uint64_t claimer);

#endif
