/* SPDX-License-Identifier: BSD-2-Clause */
/* unsynced.c - see unsynced.h. */
#include "client/lib/file/unsynced.h"

#include <errno.h>
#include <stdlib.h>

#include "common/util/hash_table.h"

struct unsynced {
	uint64_t handle;
	unsigned int since; /* first write that was not flushed */
	UT_hash_handle hh; /* sorted by insertion */
};

static struct unsynced *unsynced_find(struct fs *fs, uint64_t handle)
{
	struct unsynced *u;

	HASH_FIND(hh, fs->unsynced, &handle, sizeof(handle), u);
	return u;
}

/* Called with the lock.  Open files cache the state, so that a write needs no lookup. */
static void files_set_unsynced(struct fs *fs, uint64_t handle, bool unsynced)
{
	struct file *f;

	LIST_FOREACH(f, file_same(fs, handle), same)
		if (f->handle == handle)
			atomic_store(&f->unsynced, unsynced);
}

static void unsynced_drop(struct fs *fs, struct unsynced *u)
{
	HASH_DEL(fs->unsynced, u);
	files_set_unsynced(fs, u->handle, false);
	free(u);
}

/* NULL: no memory. */
static struct unsynced *unsynced_add(struct fs *fs, uint64_t handle,
				     unsigned int since)
{
	struct unsynced *u = calloc(1, sizeof(*u));

	if (!u)
		return NULL;
	u->handle = handle;
	u->since = since;
	HASH_ADD(hh, fs->unsynced, handle, sizeof(u->handle), u);
	if (!u->hh.tbl) {
		free(u);
		return NULL;
	}
	if (HASH_COUNT(fs->unsynced) > UNSYNCED_MAX)
		unsynced_drop(fs, fs->unsynced);
	return u;
}

static void unsynced_record(struct file *f, unsigned int since)
{
	struct fs *fs = f->fs;
	struct unsynced *u;

	pthread_mutex_lock(&fs->files_lock);
	u = unsynced_find(fs, f->handle);
	if (!u)
		u = unsynced_add(fs, f->handle, since);
	else if (since < u->since)
		u->since = since;
	if (u)
		files_set_unsynced(fs, f->handle, true);
	pthread_mutex_unlock(&fs->files_lock);
}

void unsynced_wrote(struct file *f, unsigned int since)
{
	if (f->fs && !atomic_load(&f->unsynced))
		unsynced_record(f, since);
}

unsigned int unsynced_take(struct file *f)
{
	struct unsynced *u;
	unsigned int since = 0;

	if (!f->fs)
		return 0;
	pthread_mutex_lock(&f->fs->files_lock);
	u = unsynced_find(f->fs, f->handle);
	if (u) {
		since = u->since;
		unsynced_drop(f->fs, u);
	}
	pthread_mutex_unlock(&f->fs->files_lock);
	return since;
}

/* The session in which f is open, with a reference, or NULL. */
static struct session *session_of(struct file *f)
{
	struct session *s;

	pthread_mutex_lock(&f->lock);
	s = f->s ? session_get(f->s) : NULL;
	pthread_mutex_unlock(&f->lock);
	return s;
}

/*
 * In other rings than 0, the session knows the iods.  If it does not know one, any iod may be the
 * one.
 */
static bool ring_is_lost(struct file *f, unsigned int since)
{
	const struct iod_boots *lives = &f->fs->boots;
	struct session *s = session_of(f);
	bool lost = false;
	uint32_t iod;

	for (uint32_t k = 0; !lost && k < f->dist.pcount; k++) {
		iod = s ? session_iod(s, &f->dist, k) : UINT32_MAX;
		lost = iod == UINT32_MAX ? since != iod_boots_now(lives)
					 : !iod_boots_kept(lives, iod, since);
	}
	if (s)
		session_put(s);
	return lost;
}

/*
 * Whether unsynced data of f may be lost: the host of at least one of its iods has restarted since
 * `since`.
 */
static bool is_lost(struct file *f, unsigned int since)
{
	const struct iod_boots *lives = &f->fs->boots;
	const struct ring ring = ring_of_iods(atomic_load(&lives->niods));

	if (f->dist.ring)
		return ring_is_lost(f, since);
	for (uint32_t k = 0; ring.n && k < f->dist.pcount; k++)
		if (!iod_boots_kept(lives, copyset_of(&f->dist, &ring, k),
				    since))
			return true;
	return false;
}

int unsynced_end(struct file *f, unsigned int taken, int rc)
{
	if (!taken)
		return rc;
	if (rc) {
		unsynced_record(f, taken);
		return rc;
	}
	if (!is_lost(f, taken))
		return 0;
	log_error(f->fs->log,
		  "%s: file %016llx: the host of one of its iods restarted "
		  "before all data of this program was flushed: data may be "
		  "lost; write it again",
		  f->fs->mount->dir, (unsigned long long)f->handle);
	return -EIO;
}

void unsynced_free(struct fs *fs)
{
	pthread_mutex_lock(&fs->files_lock);
	while (fs->unsynced)
		unsynced_drop(fs, fs->unsynced);
	pthread_mutex_unlock(&fs->files_lock);
}
