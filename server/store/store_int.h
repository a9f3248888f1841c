/* SPDX-License-Identifier: BSD-2-Clause */
/* store_int.h - the state of the store that its files share. */
#ifndef STORE_INT_H
#define STORE_INT_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>

#include "server/store/object_cache.h"
#include "server/store/fence_file.h"
#include "server/store/object_tree.h"
#include "server/store/block_table.h"
#include "server/store/size_table.h"
#include "common/util/stamp.h"
#include "common/util/histogram.h"
#include "server/store/object_store.h"
#include "server/store/writeback_errors.h"

struct fence_list {
	pthread_mutex_t lock; /* of ids, count and written */
	/* held while the file is written; guards head */
	pthread_mutex_t file_lock;
	uint64_t *ids; /* a ring of FENCE_PAGES * FENCE_PAGE_IDS */
	uint64_t count; /* sessions added since the file was made */
	uint64_t written; /* how many of the `count` sessions are in the file */
	struct fence_head head; /* as last written to the file */
	_Atomic uint64_t term, claimer;
	int fd;
};

/* A mode bit of an object's file: see store_stat.padded. */
#define STORE_PADDED S_IXUSR

struct object_store {
	int dirfd; /* DIR, locked by stamp_open() */
	int objfd; /* DIR/objects */
	const struct log *log;
	struct object_cache cache;
	struct writeback_errors errors;
	struct disk_pool *pool;
	/* guards flush_group.waits and busy of all objects */
	pthread_mutex_t flush_lock;
	struct timing flush_times;
	/* objects that are written out before they close */
	atomic_uint writing_out;
	struct gate *gate;
	struct size_table *sizes; /* or NULL */
	struct block_table *blocks; /* or NULL */
	bool memory; /* DIR/objects lies in a tmpfs */
	atomic_bool no_nowait; /* RWF_NOWAIT is not supported here */
	/* leaf directories whose own names are on stable storage */
	atomic_ulong leaf_named[OBJECT_PATH_LEAVES / (8 * sizeof(long))];
	struct fence_list fence;
	pthread_mutex_t claim_lock; /* of stamp */
	struct stamp stamp;
	/* an administrator said that the store is new (--new-store) */
	bool new_accepted;
	atomic_bool claimed;
};

/*
 * As store_obj_flush(), but runs store_obj_write_out() instead of store_obj_sync(), in the turn of
 * the pool's own client.
 */
void store_obj_write_out_start(struct store_obj *obj, struct disk_pool *pool,
			       struct flush_wait *wait);

/* Removes the file that an interrupted store_obj_replace() left. */
void object_copy_clean(struct object_store *store);

int store_fence_load(struct object_store *store);
void store_fence_free(struct object_store *store);

#endif
