/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * store.h - the file access manager: objects on a local file system.
 *
 *   DIR/pvfs-stamp                          whose store this is
 *   DIR/fences                              sessions refused for good
 *   DIR/objects/xx/yy/hhhhhhhhhhhhhhhh      one sparse file per handle
 *
 * All functions but store_open() and store_close() may be called from any
 * thread.  Errors of the file system (ENOSPC, EDQUOT, EFBIG, EIO, ...) are
 * passed exactly as they are.
 */
#ifndef STORE_H
#define STORE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/statvfs.h>

#include "server/store/gate.h"
#include "common/util/log.h"
#include "server/store/share.h"
#include "server/store/shown.h"

struct store;
struct store_obj;
struct sync_pool;

struct store_attr {
	const char *dir;
	uint64_t fsid;
	uint32_t index; /* of the iod */
	unsigned int max_open; /* object files kept open, about; 0: 1024 */
	/* more of these while what clients wrote there may still fail */
	unsigned int max_kept;
	struct sync_pool *pool; /* to see it written before one is closed */
	unsigned int max_marks; /* of all sessions (marks.h); 0: many */
	uint64_t share; /* bytes of blocks that are shared; 0: none */
	bool lost; /* what was stored before is lost: a new store will do */
	bool shows; /* sizes are shown: store_shown() */
	const struct log *log;
};
/* As stamp_open(): the cause and the fix are logged. */
int store_open(const struct store_attr *attr, struct store **store);
/* All objects must be put. */
void store_close(struct store *store);
int store_statfs(struct store *store, struct statvfs *fs);
/* The same for stores of one file system, on one host; 0: not known. */
uint64_t store_disk(struct store *store);
/* It lies in a tmpfs: nothing of it has to be waited for. */
bool store_in_memory(const struct store *store);
/* Its file system lets data go past the page cache. */
bool store_can_direct(const struct store *store);
bool store_obj_in_memory(const struct store_obj *obj);

struct store_stat {
	uint64_t size; /* bytes */
	uint64_t blocks; /* of 512 bytes, allocated */
	uint64_t mtime; /* ns since the epoch */
	bool padded; /* it may have space behind its end */
};
/* It has no holes. */
static inline bool store_whole(const struct store_stat *st)
{
	return !st->padded && st->blocks * 512 >= st->size;
}
/* All zero when the object does not exist. */
int store_stat(struct store *store, uint64_t handle, struct store_stat *st);
/*
 * Takes the object away; open references keep what they have.  0 also when
 * there is none.  durable: stays away after a crash.  May block on the disk.
 */
int store_remove(struct store *store, uint64_t handle, bool durable);

/*
 * A walk over all objects: in order of the leaf directories, and of the
 * handles in each.  Begins with a zero place.
 */
#define STORE_LEAF_END UINT32_MAX
struct store_place {
	uint32_t leaf; /* STORE_LEAF_END: there are no more */
	uint64_t after; /* handles up to here are behind us in this leaf */
};
/* The next up to cap handles, *n of them (it may be 0 before the end); *place
 * is moved on.  May block on the disk. */
int store_walk(struct store *store, struct store_place *place, uint64_t *handle,
	       uint32_t cap, uint32_t *n);

/*
 * A reference to an open object, from a cache of open files.  -ENOENT: does
 * not exist and create is false.
 */
int store_obj_get(struct store *store, uint64_t handle, bool create,
		  struct store_obj **obj);
struct store_obj *store_obj_ref(struct store_obj *obj);
void store_obj_put(struct store_obj *obj);
uint64_t store_obj_handle(const struct store_obj *obj);

/* *done < len only at the end of the object. */
int store_obj_read(struct store_obj *obj, void *buf, size_t len, uint64_t off,
		   size_t *done);
/* The same, but -EAGAIN after *done bytes when the rest is on the disk. */
int store_obj_read_cached(struct store_obj *obj, void *buf, size_t len,
			  uint64_t off, size_t *done);
/* All of it or an error; an error may leave a part written. */
int store_obj_write(struct store_obj *obj, const void *buf, size_t len,
		    uint64_t off);
/*
 * The same past the page cache where that can be: what is not aligned to
 * blocks of STORE_BLOCK in the object, or lies at an address that is not, goes
 * through it.  The kernel keeps both ways in step.  Blocks on the disk.
 */
#define STORE_BLOCK 4096u
int store_obj_read_direct(struct store_obj *obj, void *buf, size_t len,
			  uint64_t off, size_t *done);
int store_obj_write_direct(struct store_obj *obj, const void *buf, size_t len,
			   uint64_t off);
/* The descriptor for that; -1: there is none. */
int store_obj_direct_fd(struct store_obj *obj);
enum store_space {
	STORE_ALLOCATE, /* the range has its space */
	STORE_PUNCH, /* zeros without space; keep is true */
	STORE_ZERO, /* zeros, and space */
};
/*
 * As fallocate(2): keep, the size stays, else it reaches the end of the range
 * at least.  An error may leave a part done.  Blocks on the disk.
 */
int store_obj_space(struct store_obj *obj, enum store_space how, bool keep,
		    uint64_t off, uint64_t len);
/*
 * From off on: where data begins (-ENXIO: nowhere), or a hole; the end of the
 * object is one.
 */
int store_obj_seek(struct store_obj *obj, bool hole, uint64_t off,
		   uint64_t *at);
int store_obj_resize(struct store_obj *obj, uint64_t size);
int store_obj_stat(struct store_obj *obj, struct store_stat *st);
/*
 * Around each change of an object's bytes or size: gate_enter(), gate_leave(), on
 * the thread that makes it.  expiry: clock_boot().
 */
int store_obj_enter(struct store_obj *obj, uint64_t expiry,
		    struct gate_entry *entry);
void store_obj_leave(struct store_obj *obj, struct gate_entry *entry);
/* For who comes to an object: gate_is_shut(), gate_wait(). */
struct gate *store_gate(struct store *store);
/* What clients may see of sizes; NULL without attr.shows. */
struct shown *store_shown(struct store *store);
/* What they may see of bytes, or NULL. */
struct share *store_share(struct store *store);
struct store_seg;
/*
 * These pieces were read, of an object of size bytes: a few of their blocks are shared
 * if that is the second time.  Does not block.
 */
void store_obj_seen(struct store_obj *obj, const struct store_seg *seg,
		    unsigned int n, uint64_t size);
/*
 * Around a change of the object by others than this process, as store_obj_enter() and
 * store_obj_leave() do for it, without the gate.
 */
void store_change_begins(struct store *store, uint64_t handle);
void store_change_ends(struct store *store, uint64_t handle);
/*
 * A descriptor of the object's file, with a description of its own, the caller's:
 * for another process.  -errno.
 */
int store_obj_lend(struct store_obj *obj, bool read, bool write);
/*
 * Puts a copy in the place of the object's file: who else has that open, other than through
 * a store_obj, has nothing of the object any more.  Nobody else may begin to change it
 * meanwhile; changes that this process began are seen: -EAGAIN, then, for another try.  0
 * also when there is none.  -ENOSPC: without having taken the last room; -EOPNOTSUPP:
 * not in memory; -ECANCELED: go_on() said so; -errno.
 */
struct store_beside { /* called often meanwhile; false: give it up */
	bool (*go_on)(void *arg);
	void *arg;
};
int store_set_aside(struct store *store, uint64_t handle,
		    const struct store_beside *beside);
/* So often, for this reference. */
unsigned int store_obj_moved(const struct store_obj *obj);
/* A shared mapping for reading, and for writing if the store is in memory;
 * or NULL. */
void *store_obj_map(struct store_obj *obj, uint64_t off, size_t len);
/*
 * All of [off, off + len), which lies before the end of the object with the
 * stat st, has its space: no write there needs more.
 */
bool store_obj_present(struct store_obj *obj, const struct store_stat *st,
		       uint64_t off, uint64_t len);
/* Written through a mapping: the time says so at once. */
int store_obj_touch(struct store_obj *obj);
/* Its name is gone, with what hangs on it when the last reference goes. */
bool store_obj_removed(const struct store_obj *obj);
/*
 * Data, size and name on stable storage.  Blocks on the disk.  An error is
 * kept for all that wrote (marks.h).
 */
int store_obj_sync(struct store_obj *obj);
/* The data alone, handed to the disk.  No flush of it is to run meanwhile. */
int store_obj_write_out(struct store_obj *obj);

/*
 * Whose store it is.  One that was just made, in an empty directory, may stand
 * in for one with data, whose file system is not mounted, and one that was used
 * may be an old copy: the manager alone knows.  Until it has claimed the store
 * nothing may be served from it.
 */
struct store_claim {
	uint64_t owner; /* the manager's data base */
	uint64_t store; /* the store that it knows here; 0: none */
	bool fresh; /* the data base is new, so all stores must be */
	bool ask; /* nothing is to be kept of it */
};
enum store_verdict {
	STORE_OURS,
	STORE_REPLACED, /* it is not the one with the data */
	STORE_FOREIGN, /* it belongs to another data base */
};
/* Durable when STORE_OURS is returned; blocks on the disk; or -errno. */
int store_claim(struct store *store, const struct store_claim *claim);
/* It was, since it was opened. */
bool store_claimed(const struct store *store);
/* Of the store; 0: it was made before stores had one. */
uint64_t store_identity(struct store *store);
/* Made and not claimed since: it never had any data. */
bool store_is_new(struct store *store);

/*
 * The sessions refused for good, kept over a restart; the oldest makes room
 * for the newest beyond STORE_FENCE_MAX.  The space for so many is set aside when
 * the store is opened.
 */
#define STORE_FENCE_MAX 65536u
/* At once, in memory.  -ENOSPC: the file has been failing for as many. */
int store_fence_mark(struct store *store, uint64_t session);
/* All that were marked before are durable when it returns 0, or -errno, which is
 * logged; they stay marked.  Blocks on the disk. */
int store_fence_keep(struct store *store);
/* Both. */
int store_fence_add(struct store *store, uint64_t session);
bool store_fence_has(struct store *store, uint64_t session);
void store_fence_each(struct store *store,
		      void (*fn)(void *arg, uint64_t session), void *arg);

/* The highest term of a manager that was kept; 0: none. */
uint64_t store_term(struct store *store);
/* That manager is obeyed, and no other has been accepted since. */
bool store_obeys(struct store *store, uint64_t term, uint64_t claimer);

/* Obeys the manager with the highest term, and of two with the same term the one with
 * the lower session.  Durable when it returns 0; blocks on the disk.  -ESTALE: another
 * manager is obeyed; another -errno is logged. */
int store_term_keep(struct store *store, uint64_t term, uint64_t claimer);

#endif
