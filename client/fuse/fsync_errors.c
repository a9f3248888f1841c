/* SPDX-License-Identifier: BSD-2-Clause */
/* fsync_errors.c - see fsync_errors.h. */
#include "client/fuse/fsync_errors.h"

#include <errno.h>
#include <stdlib.h>

#include "client/lib/file/unsynced.h"
#include "common/util/clock.h"
#include "common/util/watched_descriptor.h"

struct fsync_errors {
	/* protects all below; taken before fs.files_lock */
	pthread_mutex_t lock;
	pthread_cond_t ended;
	LIST_HEAD(, fsync) all;
	uint64_t begun; /* so far */
};

struct fsync_errors *fsync_errors_new(void)
{
	struct fsync_errors *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	pthread_mutex_init(&e->lock, NULL);
	pthread_cond_init(&e->ended, NULL);
	LIST_INIT(&e->all);
	return e;
}

void fsync_errors_free(struct fsync_errors *e)
{
	if (!e)
		return;
	pthread_cond_destroy(&e->ended);
	pthread_mutex_destroy(&e->lock);
	free(e);
}

void fsync_errors_begin(struct fsync_errors *e, struct fsync *x, struct file *f)
{
	x->f = f;
	pthread_mutex_lock(&e->lock);
	x->number = ++e->begun;
	LIST_INSERT_HEAD(&e->all, x, link);
	pthread_mutex_unlock(&e->lock);
}

/* Called with the lock. */
static void tell_others(const struct file *f, int rc)
{
	struct file *o;

	pthread_mutex_lock(&f->fs->files_lock);
	LIST_FOREACH(o, file_same(f->fs, f->handle), same)
		if (o->handle == f->handle && o != f)
			atomic_store(&o->unreported_error, rc);
	pthread_mutex_unlock(&f->fs->files_lock);
}

/*
 * Called with the lock.  Whether an fsync of the object with this number, or a lower one,
 * is still running.
 */
static bool is_under_way(const struct fsync_errors *e, uint64_t handle,
			 uint64_t before)
{
	const struct fsync *x;

	LIST_FOREACH(x, &e->all, link)
		if (x->number <= before && x->f->handle == handle)
			return true;
	return false;
}

/* Called with the lock, which is released meanwhile. */
static int wait_for_others(struct fsync_errors *e, uint64_t handle,
			   uint64_t until)
{
	struct timespec at = clock_timespec(until);
	uint64_t before = e->begun;
	int rc = 0;

	if (!is_under_way(e, handle, before))
		return 0;
	pthread_mutex_unlock(&e->lock);
	watched_descriptor_hand_over();
	pthread_mutex_lock(&e->lock);
	while (!rc && is_under_way(e, handle, before))
		rc = pthread_cond_clockwait(&e->ended, &e->lock,
					    CLOCK_MONOTONIC, &at);
	return -rc;
}

int fsync_errors_end(struct fsync_errors *e, struct fsync *x, int rc,
		     uint64_t until)
{
	struct file *f = x->f;

	pthread_mutex_lock(&e->lock);
	LIST_REMOVE(x, link);
	pthread_cond_broadcast(&e->ended);
	if (unsynced_is_loss(rc)) {
		tell_others(f, rc);
		atomic_store(&f->unreported_error, 0);
	}
	if (!rc)
		rc = wait_for_others(e, f->handle, until);
	pthread_mutex_unlock(&e->lock);
	return rc ? rc : atomic_exchange(&f->unreported_error, 0);
}

bool fsync_errors_report(struct fsync_errors *e, struct file *f, int rc)
{
	if (!unsynced_is_loss(rc))
		return false;
	pthread_mutex_lock(&e->lock);
	tell_others(f, rc);
	pthread_mutex_unlock(&e->lock);
	return true;
}
