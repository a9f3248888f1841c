/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * object_copy.c - replacing the file of an object by a copy.  Data that is written to the old file
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

struct file_copy {
	struct object_store *store;
	struct object_key key;
	char path[OBJECT_PATH_LEN];
	int from, to;
	struct stat st; /* of the old file */
	char *buf; /* of PART bytes */
	const struct store_copy_control *control;
	struct gate_swap swap;
};

void object_copy_clean(struct object_store *store)
{
	unlinkat(store->objfd, NAME, 0);
}

/* Checks first, so that a copy that does not fit takes no space from concurrent writes. */
static int check_free_space(const struct file_copy *copy)
{
	uint64_t want = (uint64_t)copy->st.st_blocks * 512;
	struct statvfs fs;

	if (fstatvfs(copy->from, &fs))
		return -errno;
	return disk_space_left(&fs) < want ? -ENOSPC : 0;
}

static bool may_continue(const struct file_copy *copy)
{
	return copy->control->go_on(copy->control->arg);
}

static int write_part(const struct file_copy *copy, off_t at, size_t len)
{
	size_t done = 0;
	ssize_t n;

	while (done < len) {
		n = pwrite(copy->to, copy->buf + done, len - done,
			   at + (off_t)done);
		if (n < 0 && errno != EINTR)
			return -errno;
		done += n < 0 ? 0 : (size_t)n;
	}
	return 0;
}

static int copy_data(const struct file_copy *copy, off_t at, off_t end)
{
	ssize_t n = 1;
	int rc = 0;

	while (!rc && n && at < end) {
		size_t len = end - at < (off_t)PART ? (size_t)(end - at) : PART;

		if (!may_continue(copy))
			return -ECANCELED;
		n = pread(copy->from, copy->buf, len, at);
		if (n < 0)
			return -errno;
		rc = write_part(copy, at, (size_t)n);
		at += n;
	}
	return rc;
}

/* Copies data and skips holes. */
static int copy_all_data(const struct file_copy *copy)
{
	off_t size = copy->st.st_size, at = 0, end;
	int rc = 0;

	while (!rc && at < size) {
		at = lseek(copy->from, at, SEEK_DATA);
		if (at < 0)
			return errno == ENXIO ? 0 : -errno;
		end = lseek(copy->from, at, SEEK_HOLE);
		if (end < 0)
			return -errno;
		rc = copy_data(copy, at, end < size ? end : size);
		at = end;
	}
	return rc;
}

/* Allocated space beyond the data has to stay allocated.  It is recognised only if the space
 * covers the whole size, that is, if the object has no holes. */
static int allocate_same_space(const struct file_copy *copy)
{
	off_t space = (off_t)copy->st.st_blocks * 512, at = 0, len;

	for (; space >= copy->st.st_size && at < space; at += len) {
		if (!may_continue(copy))
			return -ECANCELED;
		len = space - at < STEP ? space - at : STEP;
		if (fallocate(copy->to, FALLOC_FL_KEEP_SIZE, at, len))
			return -errno;
	}
	return 0;
}

/* Copies everything that the store keeps with an object: size, space, data, mode and times. */
static int copy_object(const struct file_copy *copy)
{
	const struct timespec times[2] = { copy->st.st_atim, copy->st.st_mtim };
	int rc = 0;

	if (ftruncate(copy->to, copy->st.st_size))
		return -errno;
	rc = allocate_same_space(copy);
	if (!rc)
		rc = copy_all_data(copy);
	if (!rc && (fchmod(copy->to, copy->st.st_mode & 0777) ||
		    futimens(copy->to, times)))
		rc = -errno;
	return rc;
}

/* Called by gate_swap_end(), while no change can begin. */
static int move_into_place(void *arg)
{
	const struct file_copy *copy = arg;
	struct object_store *store = copy->store;

	if (renameat(store->objfd, NAME, store->objfd, copy->path))
		return -errno;
	object_cache_replace_file(&store->cache, copy->key, copy->to);
	return 0;
}

static int make_copy(struct file_copy *copy)
{
	int rc = fstat(copy->from, &copy->st) ? -errno : check_free_space(copy);

	if (rc)
		return rc;
	object_copy_clean(copy->store);
	copy->to = openat(copy->store->objfd, NAME,
			  O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOATIME,
			  0600);
	if (copy->to < 0)
		return -errno;
	copy->buf = malloc(PART);
	rc = copy->buf ? copy_object(copy) : -ENOMEM;
	free(copy->buf);
	return rc;
}

static int open_old_file(struct file_copy *copy)
{
	copy->from = openat(copy->store->objfd, copy->path,
			    O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NOATIME);
	return copy->from < 0 ? -errno : 0;
}

static int replace_by_copy(struct file_copy *copy)
{
	int rc = make_copy(copy);

	if (rc)
		gate_swap_end(copy->store->gate, &copy->swap, NULL, NULL);
	else
		rc = gate_swap_end(copy->store->gate, &copy->swap,
				   move_into_place, copy);
	if (rc && copy->to >= 0)
		object_copy_clean(copy->store);
	if (copy->to >= 0)
		close(copy->to);
	close(copy->from);
	return rc;
}

int store_obj_replace(struct object_store *store, struct object_key key,
		      const struct store_copy_control *control)
{
	struct file_copy copy = { .store = store,
				  .key = key,
				  .from = -1,
				  .to = -1,
				  .control = control };
	int rc;

	if (!store->memory)
		return -EOPNOTSUPP;
	object_path_make(key, copy.path);
	/* before the file is opened, because the object may be removed afterwards */
	if (!gate_swap_begin(store->gate, key, &copy.swap))
		return -EAGAIN;
	rc = open_old_file(&copy);
	if (rc) {
		gate_swap_end(store->gate, &copy.swap, NULL, NULL);
		return rc == -ENOENT ? 0 : rc;
	}
	store_change_begin(store, key);
	rc = replace_by_copy(&copy);
	store_change_end(store, key);
	return rc;
}
