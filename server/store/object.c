/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * object.c - one open object: its bytes, through the page cache and past it, its space, its
 * attributes, and its durability.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "common/wire/block.h"
#include "server/store/store_int.h"

/* ---- bytes, through the page cache ---- */

/* RWF_NOWAIT reads only what is in memory.  A file system without it is read as usual, which may
 * block. */
static ssize_t read_once(struct store_obj *obj, void *buf, size_t len,
			 uint64_t off, bool wait)
{
	struct iovec iov = { buf, len };
	struct object_store *store = obj->store;
	ssize_t n;

	if (!wait &&
	    !atomic_load_explicit(&store->no_nowait, memory_order_relaxed)) {
		n = preadv2(obj->fd, &iov, 1, (off_t)off, RWF_NOWAIT);
		if (n >= 0 || errno != EOPNOTSUPP)
			return n;
		atomic_store(&store->no_nowait, true);
	}
	return pread(obj->fd, buf, len, (off_t)off);
}

static int read_loop(struct store_obj *obj, void *buf, size_t len, uint64_t off,
		     bool wait, size_t *done)
{
	ssize_t n;

	while (*done < len) {
		n = read_once(obj, (char *)buf + *done, len - *done,
			      off + *done, wait);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		*done += (size_t)n;
	}
	return 0;
}

int store_obj_read(struct store_obj *obj, void *buf, size_t len, uint64_t off,
		   size_t *done)
{
	*done = 0;
	return read_loop(obj, buf, len, off, true, done);
}

int store_obj_read_cached(struct store_obj *obj, void *buf, size_t len,
			  uint64_t off, size_t *done)
{
	*done = 0;
	return read_loop(obj, buf, len, off, false, done);
}

int store_obj_write(struct store_obj *obj, const void *buf, size_t len,
		    uint64_t off)
{
	size_t put = 0;
	ssize_t n;

	while (put < len) {
		n = pwrite(obj->fd, (const char *)buf + put, len - put,
			   (off_t)(off + put));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		put += (size_t)n;
	}
	return 0;
}

/* ---- bytes, past the page cache ---- */

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

/* ---- space ---- */

int store_obj_resize(struct store_obj *obj, uint64_t size)
{
	if (size > INT64_MAX)
		return -EFBIG;
	while (ftruncate(obj->fd, (off_t)size))
		if (errno != EINTR)
			return -errno;
	return 0;
}

static int change_space(const struct store_obj *obj, int mode, uint64_t off,
			uint64_t len)
{
	while (fallocate(obj->fd, mode, (off_t)off, (off_t)len))
		if (errno != EINTR)
			return -errno;
	return 0;
}

/* As change_space(), for a file system that can only punch holes (tmpfs). */
static int zero_range(const struct store_obj *obj, int keep, uint64_t off,
		      uint64_t len)
{
	int rc = change_space(obj, FALLOC_FL_ZERO_RANGE | keep, off, len);

	if (rc != -EOPNOTSUPP)
		return rc;
	rc = change_space(obj, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, off,
			  len);
	return rc ? rc : change_space(obj, keep, off, len);
}

/*
 * Marks an object for which space is allocated beyond its end (STORE_PADDED).  From then on,
 * store_whole() is false: with these blocks, the block count does not show whether the object
 * has holes.
 */
static int mark_padded(const struct store_obj *obj, uint64_t end)
{
	struct stat sb;

	if (fstat(obj->fd, &sb))
		return -errno;
	if (end <= (uint64_t)sb.st_size || sb.st_mode & STORE_PADDED)
		return 0;
	return fchmod(obj->fd, sb.st_mode | STORE_PADDED) ? -errno : 0;
}

int store_obj_space(struct store_obj *obj, enum store_space how, bool keep,
		    uint64_t off, uint64_t len)
{
	int flag = keep ? FALLOC_FL_KEEP_SIZE : 0;
	int rc = keep && how != STORE_PUNCH ? mark_padded(obj, off + len) : 0;

	if (rc)
		return rc;
	switch (how) {
	case STORE_PUNCH:
		return change_space(obj, FALLOC_FL_PUNCH_HOLE | flag, off, len);
	case STORE_ZERO:
		return zero_range(obj, flag, off, len);
	case STORE_ALLOCATE:
		break;
	}
	return change_space(obj, flag, off, len);
}

int store_obj_seek(struct store_obj *obj, bool hole, uint64_t off, uint64_t *at)
{
	off_t found = lseek(obj->fd, (off_t)off, hole ? SEEK_HOLE : SEEK_DATA);

	if (found < 0 && errno == ENXIO && hole) /* off is beyond the end */
		found = (off_t)off;
	if (found < 0)
		return -errno;
	*at = (uint64_t)found;
	return 0;
}

/* ---- attributes ---- */

static void set_stat(const struct stat *sb, struct store_stat *st)
{
	st->size = (uint64_t)sb->st_size;
	st->blocks = (uint64_t)sb->st_blocks;
	st->padded = sb->st_mode & STORE_PADDED;
	st->mtime = (uint64_t)sb->st_mtim.tv_sec * 1000000000ull +
		    (uint64_t)sb->st_mtim.tv_nsec;
}

int store_obj_stat(struct store_obj *obj, struct store_stat *st)
{
	struct stat sb;

	if (fstat(obj->fd, &sb))
		return -errno;
	set_stat(&sb, st);
	return 0;
}

/* By name, so that a walk over many objects does not evict open files from the cache. */
int store_stat(struct object_store *store, struct object_key key,
	       struct store_stat *st)
{
	char path[OBJECT_PATH_LEN];
	struct stat sb;

	object_path_make(key, path);
	if (!fstatat(store->objfd, path, &sb, AT_SYMLINK_NOFOLLOW))
		set_stat(&sb, st);
	else if (errno == ENOENT)
		memset(st, 0, sizeof(*st));
	else
		return -errno;
	return 0;
}

void *store_obj_map(struct store_obj *obj, uint64_t off, size_t len)
{
	int prot = obj->store->memory ? PROT_READ | PROT_WRITE : PROT_READ;
	void *addr = mmap(NULL, len, prot, MAP_SHARED, obj->fd, (off_t)off);

	return addr == MAP_FAILED ? NULL : addr;
}

bool store_obj_in_memory(const struct store_obj *obj)
{
	return obj->store->memory;
}

bool store_obj_present(struct store_obj *obj, const struct store_stat *st,
		       uint64_t off, uint64_t len)
{
	off_t hole;

	if (off > st->size || len > st->size - off)
		return false;
	if (store_whole(st))
		return true;
	hole = lseek(obj->fd, (off_t)off, SEEK_HOLE);
	return hole >= 0 && (uint64_t)hole >= off + len;
}

int store_obj_touch(struct store_obj *obj)
{
	const struct timespec now[2] = { { .tv_nsec = UTIME_OMIT },
					 { .tv_nsec = UTIME_NOW } };

	int rc;

	store_change_begin(obj->store, obj->key);
	rc = futimens(obj->fd, now) ? -errno : 0;
	store_change_end(obj->store, obj->key);
	return rc;
}

bool store_obj_removed(const struct store_obj *obj)
{
	struct stat sb;

	return !fstat(obj->fd, &sb) && !sb.st_nlink;
}

int store_obj_lend(struct store_obj *obj, bool read, bool write)
{
	char path[OBJECT_PATH_LEN];
	int fd;

	object_path_make(obj->key, path);
	fd = openat(obj->store->objfd, path,
		    (!write ? O_RDONLY
		     : read ? O_RDWR
			    : O_WRONLY) |
			    O_CLOEXEC | O_NOFOLLOW | O_NOATIME);
	return fd < 0 ? -errno : fd;
}

/* ---- changes ---- */

void store_change_begin(struct object_store *store, struct object_key key)
{
	block_table_change_begin(store->blocks, key.handle);
	size_table_change_begin(store->sizes, key);
}

void store_change_end(struct object_store *store, struct object_key key)
{
	size_table_change_end(store->sizes, key);
	block_table_change_end(store->blocks, key.handle);
}

int store_obj_enter(struct store_obj *obj, uint64_t expiry,
		    struct gate_entry *entry)
{
	int rc;

	store_change_begin(obj->store, obj->key);
	rc = gate_enter(obj->store->gate, obj->key, expiry, entry);
	if (rc)
		store_change_end(obj->store, obj->key);
	return rc;
}

void store_obj_leave(struct store_obj *obj, struct gate_entry *entry)
{
	store_change_end(obj->store, obj->key);
	gate_leave(obj->store->gate, entry);
}

/* ---- blocks that are read repeatedly ---- */

/* A client looks for at most this many shared blocks per read. */
#define SEEN_MOST 8u

struct read_note {
	struct store_obj *obj;
	uint64_t size;
	unsigned int left; /* blocks that may still be reported */
	uint64_t last; /* block reported last */
};

/* A reader may have opened the object before its removal.  A block of a removed object would
 * never be invalidated, so it must not be filled. */
static int read_block(void *arg, void *buf, uint64_t off)
{
	size_t done;
	int rc;

	if (store_obj_removed(arg))
		return -ESTALE;
	rc = store_obj_read_cached(arg, buf, WIRE_BLOCK, off, &done);
	return rc ? rc : (int)done;
}

/* A piece may end far beyond the object, and several pieces may lie in one block. */
static void see_piece(struct read_note *s, const struct store_seg *seg)
{
	uint64_t number, end;

	if (seg->off >= s->size)
		return;
	end = seg->len < s->size - seg->off ? seg->off + seg->len : s->size;
	for (number = seg->off / WIRE_BLOCK;
	     s->left && number * WIRE_BLOCK < end; number++) {
		if (number == s->last)
			continue;
		s->last = number;
		s->left--;
		block_table_note_block(s->obj->store->blocks,
				       s->obj->key.handle, number, read_block,
				       s->obj);
	}
}

void store_obj_note_read(struct store_obj *obj, const struct store_seg *seg,
			 unsigned int n, uint64_t size)
{
	struct read_note s = { obj, size, SEEN_MOST, UINT64_MAX };
	unsigned int i;

	if (!obj->store->blocks || !object_key_is_own(obj->key))
		return;
	for (i = 0; i < n && s.left; i++)
		see_piece(&s, &seg[i]);
}
