/* SPDX-License-Identifier: BSD-2-Clause */
/* store_int.h - the state of the store that its files share. */
#ifndef STORE_INT_H
#define STORE_INT_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>

#include "server/store/fdcache.h"
#include "server/store/fence_file.h"
#include "server/store/objpath.h"
#include "server/store/share.h"
#include "server/store/shown.h"
#include "common/util/stamp.h"
#include "server/store/store.h"
#include "server/store/wberr.h"

struct fence_list {
	pthread_mutex_t lock; /* of ids, count and kept */
	/* held while the file is written; guards head */
	pthread_mutex_t file_lock;
	uint64_t *ids; /* a ring of FENCE_PAGES * FENCE_PAGE_IDS */
	uint64_t count; /* sessions added since the file was made */
	uint64_t kept; /* of these, how many the file holds */
	struct fence_head head; /* as last written to the file */
	_Atomic uint64_t term, claimer;
	int fd;
};

/* A mode bit of an object's file: see store_stat.padded. */
#define STORE_PADDED S_IXUSR

struct store {
	int dirfd; /* DIR, locked by stamp_open() */
	int objfd; /* DIR/objects */
	const struct log *log;
	struct fdcache cache;
	struct wberr_table wberr;
	struct sync_pool *pool;
	/* objects that are written out before they close */
	atomic_uint leaving;
	struct gate *gate;
	struct shown *shown;
	struct share *share; /* or NULL */
	bool memory; /* DIR/objects lies in a tmpfs */
	atomic_bool blind; /* RWF_NOWAIT is not supported here */
	/* leaf directories whose own names are on stable storage */
	atomic_ulong leaf_named[OBJPATH_LEAVES / (8 * sizeof(long))];
	struct fence_list fence;
	pthread_mutex_t claim_lock; /* of stamp */
	struct stamp stamp;
	/* an administrator said that the store is new (--new-store) */
	bool accepted;
	atomic_bool claimed;
};

/* The object has to stay open: a session has not yet heard that its writes are stable. */
bool store_obj_wanted(struct store_obj *obj);
/* Writes the data out, unless too many are being written out, then calls fdcache_leave(). */
void store_obj_retire(struct store_obj *obj);

/* Removes the file that an interrupted store_set_aside() left. */
void store_aside_clean(struct store *store);

int store_claim_open(struct store *store, const struct store_attr *attr);

int store_fence_load(struct store *store);
void store_fence_free(struct store *store);

#endif
