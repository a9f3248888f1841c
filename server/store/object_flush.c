/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * object_flush.c - flushes of an object.  One flush serves all requests that wait for a flush of
 * the same object (group commit).  It takes the turn of the client that has waited longest.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "common/util/clock.h"
#include "common/util/container.h"
#include "server/store/store_int.h"

static void flush_failed(struct store_obj *obj, int status)
{
	writeback_errors_add(&obj->store->errors, obj->key, status);
	log_error(obj->store->log,
		  "flush of object %s failed: %s; data written "
		  "lately may be lost, check the disk",
		  object_key_text(obj->key).s, strerror(-status));
}

int store_obj_sync(struct store_obj *obj)
{
	int rc = 0;

	if (fdatasync(obj->fd))
		rc = -errno;
	if (!rc && !atomic_load(&obj->named)) {
		rc = object_tree_sync_name(obj->store, obj->key);
		if (!rc)
			atomic_store(&obj->named, true);
	}
	if (rc)
		flush_failed(obj, rc);
	return rc;
}

int store_obj_write_out(struct store_obj *obj)
{
	int rc;

	if (!sync_file_range(obj->fd, 0, 0,
			     SYNC_FILE_RANGE_WAIT_BEFORE |
				     SYNC_FILE_RANGE_WRITE |
				     SYNC_FILE_RANGE_WAIT_AFTER))
		return 0;
	rc = -errno;
	flush_failed(obj, rc);
	return rc;
}

/* ---- group commit ---- */

static void collect_waits(struct store_obj *obj, struct flush_waits *waits)
{
	pthread_mutex_lock(&obj->store->flush_lock);
	STAILQ_CONCAT(waits, &obj->group.waits);
	pthread_mutex_unlock(&obj->store->flush_lock);
}

static void complete_waits(struct flush_waits *waits, int status)
{
	struct disk_client *client;
	struct flush_wait *wait;

	while ((wait = STAILQ_FIRST(waits))) {
		STAILQ_REMOVE_HEAD(waits, link);
		client = wait->client;
		wait->done(wait, status);
		disk_client_put(client);
	}
}

/*
 * Whether a request waits for a flush.  If so, sets *client to the client in whose turn the next
 * flush runs, with a reference; NULL: the pool's own client.
 */
static bool next_turn(struct store_obj *obj, struct disk_client **client)
{
	struct flush_group *group = &obj->group;
	struct flush_wait *wait;

	pthread_mutex_lock(&obj->store->flush_lock);
	wait = STAILQ_FIRST(&group->waits);
	group->busy = wait;
	*client = wait && wait->client ? disk_client_ref(wait->client) : NULL;
	pthread_mutex_unlock(&obj->store->flush_lock);
	return wait;
}

/* The kernel reports an error to one flush only, so no two flushes of an object run
 * concurrently. */
static int flush_object(struct store_obj *obj, const struct flush_waits *waits)
{
	const struct flush_wait *wait;

	STAILQ_FOREACH(wait, waits, link)
		if (!wait->data_only)
			return store_obj_sync(obj);
	return store_obj_write_out(obj);
}

static int timed_flush(struct store_obj *obj, const struct flush_waits *waits)
{
	uint64_t start = clock_now();
	int rc = flush_object(obj, waits);

	timing_add(&obj->store->flush_times, clock_now() - start, 0, rc);
	return rc;
}

/* Requests that arrive during the flush need another one. */
static void run_group(struct disk_work *work)
{
	struct flush_group *group = container_of(work, struct flush_group,
						 work);
	struct store_obj *obj = container_of(group, struct store_obj, group);
	struct flush_waits waits = STAILQ_HEAD_INITIALIZER(waits);
	struct disk_client *client;

	collect_waits(obj, &waits);
	complete_waits(&waits, timed_flush(obj, &waits));
	if (next_turn(obj, &client)) {
		disk_pool_run(group->pool, client, DISK_FLUSH, work);
		disk_client_put(client);
	} else {
		store_obj_put(obj);
	}
}

static void join_group(struct store_obj *obj, struct disk_pool *pool,
		       struct disk_client *client, struct flush_wait *wait)
{
	struct flush_group *group = &obj->group;
	bool busy;

	wait->client = client ? disk_client_ref(client) : NULL;
	pthread_mutex_lock(&obj->store->flush_lock);
	STAILQ_INSERT_TAIL(&group->waits, wait, link);
	busy = group->busy;
	group->busy = true;
	if (!busy) { /* otherwise a pool thread is reading them */
		group->pool = pool;
		group->work.run = run_group;
	}
	pthread_mutex_unlock(&obj->store->flush_lock);
	if (busy)
		return;
	store_obj_ref(obj);
	disk_pool_run(pool, client, DISK_FLUSH, &group->work);
}

void store_obj_flush(struct store_obj *obj, struct disk_pool *pool,
		     struct disk_client *client, struct flush_wait *wait)
{
	wait->data_only = false;
	join_group(obj, pool, client, wait);
}

void store_obj_write_out_start(struct store_obj *obj, struct disk_pool *pool,
			       struct flush_wait *wait)
{
	wait->data_only = true;
	join_group(obj, pool, NULL, wait);
}
