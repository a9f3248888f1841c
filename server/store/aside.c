/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * aside.c - replacing the file of an object by a copy.  Data that is written to the old file
 * later does not reach the object.
 *
 * Only for stores in memory: no data has to reach a disk before the rename.  If the replacement
 * is interrupted, either the old or the new file is the object.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/util/disk_space.h"
#include "server/store/store_int.h"

#define NAME "aside" /* in objects/, where no object's name can be */
#define PART ((size_t)256 << 10)
#define STEP ((off_t)64 << 20) /* bytes of one fallocate() */

struct aside {
	struct store *store;
	uint64_t handle;
	char path[OBJPATH_LEN];
	int from, to;
	struct stat st; /* of the old file */
	char *buf; /* of PART bytes */
	const struct store_beside *beside;
	struct gate_swap swap;
};

void store_aside_clean(struct store *store)
{
	unlinkat(store->objfd, NAME, 0);
}

/* Checks first, so that a copy that does not fit takes no space from concurrent writes. */
static int have_room(const struct aside *a)
{
	uint64_t want = (uint64_t)a->st.st_blocks * 512;
	struct statvfs fs;

	if (fstatvfs(a->from, &fs))
		return -errno;
	return disk_space_left(&fs) < want ? -ENOSPC : 0;
}

static bool go_on(const struct aside *a)
{
	return a->beside->go_on(a->beside->arg);
}

static int put(const struct aside *a, off_t at, size_t len)
{
	size_t done = 0;
	ssize_t n;

	while (done < len) {
		n = pwrite(a->to, a->buf + done, len - done, at + (off_t)done);
		if (n < 0 && errno != EINTR)
			return -errno;
		done += n < 0 ? 0 : (size_t)n;
	}
	return 0;
}

static int copy_data(const struct aside *a, off_t at, off_t end)
{
	ssize_t n = 1;
	int rc = 0;

	while (!rc && n && at < end) {
		size_t len = end - at < (off_t)PART ? (size_t)(end - at) : PART;

		if (!go_on(a))
			return -ECANCELED;
		n = pread(a->from, a->buf, len, at);
		if (n < 0)
			return -errno;
		rc = put(a, at, (size_t)n);
		at += n;
	}
	return rc;
}

/* Copies data and skips holes. */
static int copy_all(const struct aside *a)
{
	off_t size = a->st.st_size, at = 0, end;
	int rc = 0;

	while (!rc && at < size) {
		at = lseek(a->from, at, SEEK_DATA);
		if (at < 0)
			return errno == ENXIO ? 0 : -errno;
		end = lseek(a->from, at, SEEK_HOLE);
		if (end < 0)
			return -errno;
		rc = copy_data(a, at, end < size ? end : size);
		at = end;
	}
	return rc;
}

/* Allocated space beyond the data has to stay allocated.  It is recognised only if the space
 * covers the whole size, that is, if the object has no holes. */
static int keep_space(const struct aside *a)
{
	off_t space = (off_t)a->st.st_blocks * 512, at = 0, len;

	for (; space >= a->st.st_size && at < space; at += len) {
		if (!go_on(a))
			return -ECANCELED;
		len = space - at < STEP ? space - at : STEP;
		if (fallocate(a->to, FALLOC_FL_KEEP_SIZE, at, len))
			return -errno;
	}
	return 0;
}

/* Copies everything that the store keeps with an object: size, space, data, mode and times. */
static int fill(const struct aside *a)
{
	const struct timespec times[2] = { a->st.st_atim, a->st.st_mtim };
	int rc = 0;

	if (ftruncate(a->to, a->st.st_size))
		return -errno;
	rc = keep_space(a);
	if (!rc)
		rc = copy_all(a);
	if (!rc &&
	    (fchmod(a->to, a->st.st_mode & 0777) || futimens(a->to, times)))
		rc = -errno;
	return rc;
}

/* Called by gate_swap_end(), while no change can begin. */
static int take_place(void *arg)
{
	const struct aside *a = arg;
	struct store *store = a->store;

	if (renameat(store->objfd, NAME, store->objfd, a->path))
		return -errno;
	fdcache_swapped(&store->cache, a->handle, a->to);
	return 0;
}

static int make(struct aside *a)
{
	int rc = fstat(a->from, &a->st) ? -errno : have_room(a);

	if (rc)
		return rc;
	store_aside_clean(a->store);
	a->to = openat(a->store->objfd, NAME,
		       O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOATIME, 0600);
	if (a->to < 0)
		return -errno;
	a->buf = malloc(PART);
	rc = a->buf ? fill(a) : -ENOMEM;
	free(a->buf);
	return rc;
}

static int open_from(struct aside *a)
{
	a->from = openat(a->store->objfd, a->path,
			 O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NOATIME);
	return a->from < 0 ? -errno : 0;
}

static int replace(struct aside *a)
{
	int rc = make(a);

	if (rc)
		gate_swap_end(a->store->gate, &a->swap, NULL, NULL);
	else
		rc = gate_swap_end(a->store->gate, &a->swap, take_place, a);
	if (rc && a->to >= 0)
		store_aside_clean(a->store);
	if (a->to >= 0)
		close(a->to);
	close(a->from);
	return rc;
}

int store_set_aside(struct store *store, uint64_t handle,
		    const struct store_beside *beside)
{
	struct aside a = { .store = store,
			   .handle = handle,
			   .from = -1,
			   .to = -1,
			   .beside = beside };
	int rc;

	if (!store->memory)
		return -EOPNOTSUPP;
	objpath_make(handle, a.path);
	/* before the file is opened, because the object may be removed afterwards */
	if (!gate_swap_begin(store->gate, handle, &a.swap))
		return -EAGAIN;
	rc = open_from(&a);
	if (rc) {
		gate_swap_end(store->gate, &a.swap, NULL, NULL);
		return rc == -ENOENT ? 0 : rc;
	}
	store_change_begins(store, handle);
	rc = replace(&a);
	store_change_ends(store, handle);
	return rc;
}
