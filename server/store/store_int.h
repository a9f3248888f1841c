/* SPDX-License-Identifier: BSD-2-Clause */
/* store_int.h - what the files of the store share. */
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
	pthread_mutex_t lock; /* ids, count, kept */
	pthread_mutex_t file_lock; /* one writer of the file at a time; head */
	uint64_t *ids; /* a ring of FENCE_PAGES * FENCE_PAGE_IDS */
	uint64_t count; /* that were ever added */
	uint64_t kept; /* of these the file has so many */
	struct fence_head head; /* as the file has it */
	_Atomic uint64_t term, claimer;
	int fd;
};

/* A bit of an object's mode: see store_stat.padded. */
#define STORE_PADDED S_IXUSR

struct store {
	int dirfd; /* DIR, locked */
	int objfd; /* DIR/objects */
	const struct log *log;
	struct fdcache cache;
	struct wberr_table wberr;
	struct sync_pool *pool;
	atomic_uint leaving; /* objects that are written before they close */
	struct gate *gate;
	struct shown *shown;
	struct share *share; /* or NULL */
	bool memory; /* a tmpfs */
	atomic_bool blind; /* RWF_NOWAIT does not work here */
	/* leaf directories whose own names are on stable storage */
	atomic_ulong leaf_named[OBJPATH_LEAVES / (8 * sizeof(long))];
	struct fence_list fence;
	pthread_mutex_t claim_lock; /* stamp */
	struct stamp stamp;
	bool accepted; /* that it is new, by an administrator */
	atomic_bool claimed;
};

/* What the cache of open files asks: see there. */
bool store_obj_wanted(struct store_obj *obj);
/* fdcache_leave() follows, when what was written has met the disk. */
void store_obj_retire(struct store_obj *obj);

/* What store_set_aside() left in the middle. */
void store_aside_clean(struct store *store);

int store_claim_open(struct store *store, const struct store_attr *attr);

int store_fence_load(struct store *store);
void store_fence_free(struct store *store);

#endif
