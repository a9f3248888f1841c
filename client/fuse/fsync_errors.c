/* SPDX-License-Identifier: BSD-2-Clause */
/* fsync_errors.c - see fsync_errors.h. */
#include "client/fuse/fsync_errors.h"

#include <errno.h>
#include <stdlib.h>

#include "common/util/clock.h"
#include "common/util/watched_descriptor.h"
#include "client/lib/file/unsynced.h"

struct fsync_errors {
	/* protects all below; taken before fs.files_lock */
	pthread_mutex_t lock;
	pthread_cond_t ended;
	LIST_HEAD(, fsync) all;
	uint64_t begun; /* so far */
};

struct fsync_errors *fsync_errors_new(void)
{
	struct fsync_errors *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->ended, NULL);
	LIST_INIT(&s->all);
	return s;
}

void fsync_errors_free(struct fsync_errors *s)
{
	if (!s)
		return;
	pthread_cond_destroy(&s->ended);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

void fsync_errors_begin(struct fsync_errors *s, struct fsync *x, struct file *f)
{
	x->f = f;
	pthread_mutex_lock(&s->lock);
	x->number = ++s->begun;
	LIST_INSERT_HEAD(&s->all, x, link);
	pthread_mutex_unlock(&s->lock);
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
 * Called with the lock.  True: an fsync of the object, with this number or a lower one,
 * has not ended.
 */
static bool is_under_way(const struct fsync_errors *s, uint64_t handle,
			 uint64_t before)
{
	const struct fsync *x;

	LIST_FOREACH(x, &s->all, link)
		if (x->number <= before && x->f->handle == handle)
			return true;
	return false;
}

/* Called with the lock, which is released meanwhile. */
static int wait_for_others(struct fsync_errors *s, uint64_t handle,
			   uint64_t until)
{
	struct timespec at = clock_timespec(until);
	uint64_t before = s->begun;
	int rc = 0;

	if (!is_under_way(s, handle, before))
		return 0;
	pthread_mutex_unlock(&s->lock);
	watched_descriptor_hand_over();
	pthread_mutex_lock(&s->lock);
	while (!rc && is_under_way(s, handle, before))
		rc = pthread_cond_clockwait(&s->ended, &s->lock,
					    CLOCK_MONOTONIC, &at);
	return -rc;
}

int fsync_errors_end(struct fsync_errors *s, struct fsync *x, int rc,
		     uint64_t until)
{
	struct file *f = x->f;

	pthread_mutex_lock(&s->lock);
	LIST_REMOVE(x, link);
	pthread_cond_broadcast(&s->ended);
	if (unsynced_is_loss(rc)) {
		tell_others(f, rc);
		atomic_store(&f->unreported_error, 0);
	}
	if (!rc)
		rc = wait_for_others(s, f->handle, until);
	pthread_mutex_unlock(&s->lock);
	return rc ? rc : atomic_exchange(&f->unreported_error, 0);
}

bool fsync_errors_report(struct fsync_errors *s, struct file *f, int rc)
{
	if (!unsynced_is_loss(rc))
		return false;
	pthread_mutex_lock(&s->lock);
	tell_others(f, rc);
	pthread_mutex_unlock(&s->lock);
	return true;
}
