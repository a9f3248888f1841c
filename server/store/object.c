/* SPDX-License-Identifier: BSD-2-Clause */
/* object.c - reading, writing and flushing one object. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "common/util/container.h"
#include "server/store/store_int.h"

#define LEAVE_MAX 256u
#define LONG_BITS (8 * sizeof(long))

/* RWF_NOWAIT reads only what is in memory.  A file system without it is read as usual, which may
 * block. */
static ssize_t read_some(struct store_obj *obj, void *buf, size_t len,
			 uint64_t off, bool wait)
{
	struct iovec iov = { buf, len };
	struct store *store = obj->store;
	ssize_t n;

	if (!wait &&
	    !atomic_load_explicit(&store->blind, memory_order_relaxed)) {
		n = preadv2(obj->fd, &iov, 1, (off_t)off, RWF_NOWAIT);
		if (n >= 0 || errno != EOPNOTSUPP)
			return n;
		atomic_store(&store->blind, true);
	}
	return pread(obj->fd, buf, len, (off_t)off);
}

static int read_loop(struct store_obj *obj, void *buf, size_t len, uint64_t off,
		     bool wait, size_t *done)
{
	ssize_t n;

	while (*done < len) {
		n = read_some(obj, (char *)buf + *done, len - *done,
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

int store_obj_resize(struct store_obj *obj, uint64_t size)
{
	if (size > INT64_MAX)
		return -EFBIG;
	while (ftruncate(obj->fd, (off_t)size))
		if (errno != EINTR)
			return -errno;
	return 0;
}

int store_obj_enter(struct store_obj *obj, uint64_t expiry,
		    struct gate_entry *entry)
{
	int rc;

	store_change_begins(obj->store, obj->handle);
	rc = gate_enter(obj->store->gate, obj->handle, expiry, entry);
	if (rc)
		store_change_ends(obj->store, obj->handle);
	return rc;
}

void store_obj_leave(struct store_obj *obj, struct gate_entry *entry)
{
	store_change_ends(obj->store, obj->handle);
	gate_leave(obj->store->gate, entry);
}

static void stat_out(const struct stat *sb, struct store_stat *st)
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
	stat_out(&sb, st);
	return 0;
}

/* By name, so that a walk over many objects does not evict open files from the cache. */
int store_stat(struct store *store, uint64_t handle, struct store_stat *st)
{
	char path[OBJPATH_LEN];
	struct stat sb;

	objpath_make(handle, path);
	if (!fstatat(store->objfd, path, &sb, AT_SYMLINK_NOFOLLOW))
		stat_out(&sb, st);
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

	store_change_begins(obj->store, obj->handle);
	rc = futimens(obj->fd, now) ? -errno : 0;
	store_change_ends(obj->store, obj->handle);
	return rc;
}

bool store_obj_removed(const struct store_obj *obj)
{
	struct stat sb;

	return !fstat(obj->fd, &sb) && !sb.st_nlink;
}

static int sync_dir(struct store *store, const char *path)
{
	int fd, rc = 0;

	fd = openat(store->objfd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fsync(fd))
		rc = -errno;
	close(fd);
	return rc;
}

/* Makes the names of the leaf directory and of its parent durable, once per process. */
static int sync_leaf_name(struct store *store, unsigned int leaf, char *path)
{
	atomic_ulong *word = &store->leaf_named[leaf / LONG_BITS];
	unsigned long bit = 1ul << leaf % LONG_BITS;
	int rc;

	if (atomic_load(word) & bit)
		return 0;
	path[OBJPATH_TOP] = '\0';
	rc = sync_dir(store, path);
	path[OBJPATH_TOP] = '/';
	if (!rc && fsync(store->objfd))
		rc = -errno;
	if (!rc)
		atomic_fetch_or(word, bit);
	return rc;
}

static int sync_name(struct store_obj *obj)
{
	char path[OBJPATH_LEN];
	int rc;

	if (atomic_load(&obj->named))
		return 0;
	objpath_make(obj->handle, path);
	path[OBJPATH_LEAF] = '\0';
	rc = sync_dir(obj->store, path);
	if (!rc)
		rc = sync_leaf_name(obj->store, objpath_leaf(obj->handle),
				    path);
	if (!rc)
		atomic_store(&obj->named, true);
	return rc;
}

static void flush_failed(struct store_obj *obj, int status)
{
	wberr_note(&obj->store->wberr, obj->handle, status);
	log_error(obj->store->log,
		  "flush of object %016lx failed: %s; data written "
		  "lately may be lost, check the disk",
		  (unsigned long)obj->handle, strerror(-status));
}

int store_obj_sync(struct store_obj *obj)
{
	int rc = 0;

	if (fdatasync(obj->fd))
		rc = -errno;
	if (!rc)
		rc = sync_name(obj);
	if (rc)
		flush_failed(obj, rc);
	return rc;
}

bool store_obj_wanted(struct store_obj *obj)
{
	return wberr_used(&obj->store->wberr, obj->handle);
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

static void over(struct store_obj *obj)
{
	atomic_fetch_sub(&obj->store->leaving, 1);
	fdcache_leave(&obj->store->cache, obj);
}

static void written_out(struct sync_wait *wait, int status)
{
	over(container_of(wait, struct store_obj, leave));
}

/*
 * If nobody has seen a write-back error, the kernel reports it to the next one who opens the
 * file.  But it forgets the error when it evicts the inode.  So the object is written out
 * before it closes.  If LEAVE_MAX objects are being written out, this one is not: then the next
 * open usually reports the error.
 */
void store_obj_retire(struct store_obj *obj)
{
	struct store *store = obj->store;

	obj->leave.done = written_out;
	if (atomic_fetch_add(&store->leaving, 1) < LEAVE_MAX && store->pool)
		sync_pool_write_out(store->pool, obj, &obj->leave);
	else
		over(obj);
}
