/* SPDX-License-Identifier: BSD-2-Clause */
/* direct.c - reading and writing one object past the page cache. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "common/util/stamp.h"
#include "server/store/store_int.h"

bool store_can_direct(const struct store *store)
{
	int fd;

	if (store->memory)
		return false;
	fd = openat(store->dirfd, STAMP_FILE, O_RDONLY | O_DIRECT | O_CLOEXEC);
	if (fd < 0)
		return false;
	close(fd);
	return true;
}

/*
 * Opens the file by its descriptor, because the name may be gone.  -1: no /proc, or out of
 * descriptors; then the page cache is used.
 */
int store_obj_direct_fd(struct store_obj *obj)
{
	int fd = atomic_load(&obj->direct), none = -1;
	char path[32];

	if (fd >= 0)
		return fd;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", obj->fd);
	fd = open(path, O_RDWR | O_DIRECT | O_CLOEXEC);
	if (fd >= 0 &&
	    !atomic_compare_exchange_strong(&obj->direct, &none, fd)) {
		close(fd);
		fd = none;
	}
	return fd;
}

/* Of [off, off + len): the bytes before the first whole block, and the bytes in whole blocks. */
static size_t before_blocks(uint64_t off)
{
	return (size_t)(-off % STORE_BLOCK);
}

static size_t in_blocks(const void *buf, size_t len, uint64_t off)
{
	size_t head = before_blocks(off);

	if (len < head + STORE_BLOCK || ((uintptr_t)buf + head) % STORE_BLOCK)
		return 0;
	return (len - head) / STORE_BLOCK * STORE_BLOCK;
}

/*
 * Returns the number of bytes moved, or -errno.  If fewer than len, the rest goes through the
 * page cache: at the end of the object, and where the file system refuses O_DIRECT.
 */
static ssize_t move_blocks(struct store_obj *obj, bool write, char *buf,
			   size_t len, uint64_t off)
{
	int fd = store_obj_direct_fd(obj);
	size_t done = 0;
	ssize_t n;

	while (fd >= 0 && done < len) {
		n = write ? pwrite(fd, buf + done, len - done,
				   (off_t)(off + done))
			  : pread(fd, buf + done, len - done,
				  (off_t)(off + done));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno != EINVAL)
			return -errno;
		if (n <= 0)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

int store_obj_write_direct(struct store_obj *obj, const void *buf, size_t len,
			   uint64_t off)
{
	size_t head = before_blocks(off), blocks = in_blocks(buf, len, off);
	char *at = (char *)(uintptr_t)buf;
	ssize_t n;
	int rc = 0;

	if (!blocks)
		return store_obj_write(obj, buf, len, off);
	if (head)
		rc = store_obj_write(obj, at, head, off);
	if (rc)
		return rc;
	n = move_blocks(obj, true, at + head, blocks, off + head);
	if (n < 0)
		return (int)n;
	head += (size_t)n;
	return store_obj_write(obj, at + head, len - head, off + head);
}

int store_obj_read_direct(struct store_obj *obj, void *buf, size_t len,
			  uint64_t off, size_t *done)
{
	size_t head = before_blocks(off), blocks = in_blocks(buf, len, off);
	char *at = buf;
	ssize_t n;
	int rc = 0;

	if (!blocks)
		return store_obj_read(obj, buf, len, off, done);
	*done = 0;
	if (head)
		rc = store_obj_read(obj, buf, head, off, done);
	if (rc || *done < head)
		return rc;
	n = move_blocks(obj, false, at + head, blocks, off + head);
	if (n < 0)
		return (int)n;
	head += (size_t)n;
	rc = store_obj_read(obj, at + head, len - head, off + head, done);
	*done += head;
	return rc;
}
