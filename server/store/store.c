/* SPDX-License-Identifier: BSD-2-Clause */
/* store.c - opening the store; objects by handle. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <xxhash.h>

#include "common/util/clock.h"
#include "server/store/store_int.h"

#define MAX_OPEN_DEFAULT 1024u

/* An empty directory.  If it is missing, somebody has removed the objects. */
#define MARK "objects/here"

static int make_objects(struct store *store)
{
	if (mkdirat(store->dirfd, "objects", 0700) && errno != EEXIST)
		return -errno;
	if (mkdirat(store->dirfd, MARK, 0700) && errno != EEXIST)
		return -errno;
	return fsync(store->dirfd) ? -errno : 0;
}

/* Only a store that was never claimed may lack the directories. */
static int open_objects(struct store *store)
{
	struct statfs fs;
	int fd, rc;

	rc = store->stamp.owner ? 0 : make_objects(store);
	if (rc)
		return rc;
	if (faccessat(store->dirfd, MARK, F_OK, AT_EACCESS))
		return -errno;
	fd = openat(store->dirfd, "objects",
		    O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	store->objfd = fd;
	/* the mark has to be durable before a claim */
	if (!store->stamp.owner && fsync(fd))
		return -errno;
	store->memory = !fstatfs(fd, &fs) && fs.f_type == TMPFS_MAGIC;
	store_aside_clean(store);
	return 0;
}

/*
 * The iod writes the owner into the stamp before it obeys a manager.  A term without an owner
 * means that the line was lost, and the store would pass for a new one.  Stores of early
 * releases have neither.
 */
static int check_owner(struct store *store, const char *dir)
{
	if (!store_is_new(store) || !store_term(store))
		return 0;
	log_error(store->log,
		  "%s/" STAMP_FILE " does not say which manager the storage "
		  "belongs to, though a manager has claimed it: the end of the "
		  "file is missing; restore the file from a backup",
		  dir);
	return -EBADMSG;
}

static int open_parts(struct store *store, const char *dir)
{
	int rc = open_objects(store);

	if (rc == -ENOENT) {
		log_error(store->log,
			  "storage %s has a stamp but no folder " MARK ": the "
			  "objects were removed; restore them from a backup",
			  dir);
		return rc;
	}
	if (!rc)
		rc = store_fence_load(store);
	if (!rc)
		rc = check_owner(store, dir);
	if (rc)
		log_error(store->log, "cannot open the store in %s: %s", dir,
			  strerror(-rc));
	return rc;
}

/* As GETSIZE answers. */
static int look(void *arg, uint64_t handle, struct shown_size *size)
{
	struct store_stat st;
	int rc = store_stat(arg, handle, &st);

	if (!rc)
		*size = (struct shown_size){ st.size, st.blocks, st.mtime };
	return rc;
}

static int open_shown(struct store *store)
{
	const struct shown_attr attr = { .places = SHOWN_PLACES,
					 .look = look,
					 .arg = store,
					 .clock = clock_now };

	return shown_open(&attr, &store->shown);
}

int store_open(const struct store_attr *attr, struct store **out)
{
	struct store *store;
	int rc;

	store = calloc(1, sizeof(*store));
	if (!store)
		return -ENOMEM;
	store->log = attr->log;
	store->objfd = -1;
	store->pool = attr->pool;
	fdcache_init(&store->cache,
		     attr->max_open ? attr->max_open : MAX_OPEN_DEFAULT,
		     attr->max_kept);
	wberr_init(&store->wberr, attr->max_marks);
	pthread_mutex_init(&store->claim_lock, NULL);
	store->dirfd = -1;
	rc = gate_open(clock_boot, &store->gate);
	if (!rc && attr->shows)
		rc = open_shown(store);
	if (!rc && attr->share)
		rc = share_open(attr->share, &store->share);
	if (!rc)
		rc = store_claim_open(store, attr);
	if (!rc)
		rc = open_parts(store, attr->dir);
	if (rc)
		store_close(store);
	else
		*out = store;
	return rc;
}

void store_close(struct store *store)
{
	fdcache_destroy(&store->cache);
	wberr_destroy(&store->wberr);
	store_fence_free(store);
	share_close(store->share);
	shown_close(store->shown);
	gate_close(store->gate);
	pthread_mutex_destroy(&store->claim_lock);
	if (store->objfd >= 0)
		close(store->objfd);
	if (store->dirfd >= 0)
		close(store->dirfd);
	free(store);
}

struct gate *store_gate(struct store *store)
{
	return store->gate;
}

int store_statfs(struct store *store, struct statvfs *fs)
{
	struct statvfs tmp;

	if (fstatvfs(store->objfd, &tmp))
		return -errno;
	*fs = tmp;
	return 0;
}

/* A device number is valid on one host and until it reboots, so the boot id goes into the hash. */
#define BOOT_ID "/proc/sys/kernel/random/boot_id"

static ssize_t read_boot_id(char *text, size_t len)
{
	int fd = open(BOOT_ID, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -1;
	n = read(fd, text, len);
	close(fd);
	return n;
}

uint64_t store_disk(struct store *store)
{
	struct stat sb;
	char text[64];
	ssize_t n = read_boot_id(text, sizeof(text));

	if (n <= 0 || fstat(store->objfd, &sb))
		return 0;
	return XXH3_64bits_withSeed(text, (size_t)n, sb.st_dev) ?: 1;
}

struct shown *store_shown(struct store *store)
{
	return store->shown;
}

struct share *store_share(struct store *store)
{
	return store->share;
}

void store_change_begins(struct store *store, uint64_t handle)
{
	share_enter(store->share, handle);
	shown_enter(store->shown, handle);
}

void store_change_ends(struct store *store, uint64_t handle)
{
	shown_leave(store->shown, handle);
	share_leave(store->share, handle);
}

bool store_in_memory(const struct store *store)
{
	return store->memory;
}

static int sync_removal(struct store *store, char *path)
{
	int fd, rc = 0;

	path[OBJPATH_LEAF] = '\0';
	fd = openat(store->objfd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	if (fsync(fd))
		rc = -errno;
	close(fd);
	return rc;
}

static int unlink_object(struct store *store, uint64_t handle, const char *path)
{
	struct gate_entry entry;
	int rc;

	store_change_begins(store, handle);
	gate_enter(store->gate, handle, UINT64_MAX, &entry);
	rc = unlinkat(store->objfd, path, 0) ? -errno : 0;
	if (!rc)
		fdcache_removed(&store->cache, handle);
	gate_leave(store->gate, &entry);
	store_change_ends(store, handle);
	return rc == -ENOENT ? 0 : rc;
}

int store_remove(struct store *store, uint64_t handle, bool durable)
{
	char path[OBJPATH_LEN];
	int rc;

	objpath_make(handle, path);
	rc = unlink_object(store, handle, path);
	if (rc)
		return rc;
	return durable ? sync_removal(store, path) : 0;
}

/* Returns -EIO instead of -ENOENT: a client would take -ENOENT for a missing file. */
static int make_dir(struct store *store, const char *dir)
{
	if (!mkdirat(store->objfd, dir, 0700) || errno == EEXIST)
		return 0;
	if (errno != ENOENT)
		return -errno;
	log_error(store->log, "the folder objects of the storage was removed: "
			      "stop the iod and restore it");
	return -EIO;
}

static int make_leaf(struct store *store, const char *path)
{
	char dir[OBJPATH_LEN];
	int rc;

	memcpy(dir, path, OBJPATH_LEN);
	dir[OBJPATH_TOP] = '\0';
	rc = make_dir(store, dir);
	dir[OBJPATH_TOP] = '/';
	dir[OBJPATH_LEAF] = '\0';
	return rc ? rc : make_dir(store, dir);
}

static int open_file(struct store *store, uint64_t handle, bool create)
{
	const int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NOATIME;
	char path[OBJPATH_LEN];
	int fd, rc;

	objpath_make(handle, path);
	fd = openat(store->objfd, path, flags);
	if (fd < 0 && errno == ENOENT && create) {
		fd = openat(store->objfd, path, flags | O_CREAT, 0600);
		if (fd < 0 && errno == ENOENT) {
			rc = make_leaf(store, path);
			if (rc)
				return rc;
			fd = openat(store->objfd, path, flags | O_CREAT, 0600);
		}
	}
	return fd < 0 ? -errno : fd;
}

static int obj_open(struct store *store, uint64_t handle, bool create,
		    struct store_obj **out)
{
	struct store_obj *obj;
	int fd;

	obj = calloc(1, sizeof(*obj));
	if (!obj)
		return -ENOMEM;
	fd = open_file(store, handle, create);
	if (fd < 0) {
		free(obj);
		return fd;
	}
	obj->handle = handle;
	obj->store = store;
	obj->fd = fd;
	atomic_init(&obj->direct, -1);
	atomic_init(&obj->refs, 1);
	sync_group_init(&obj->group);
	*out = obj;
	return 0;
}

int store_obj_get(struct store *store, uint64_t handle, bool create,
		  struct store_obj **out)
{
	struct store_obj *obj;
	uint64_t ticket;
	int rc;

	while (!(obj = fdcache_find(&store->cache, handle, &ticket))) {
		rc = obj_open(store, handle, create, &obj);
		if (rc)
			return rc;
		obj = fdcache_add(&store->cache, obj, ticket);
		if (obj)
			break;
	}
	*out = obj;
	return 0;
}

int store_obj_lend(struct store_obj *obj, bool read, bool write)
{
	char path[OBJPATH_LEN];
	int fd;

	objpath_make(obj->handle, path);
	fd = openat(obj->store->objfd, path,
		    (!write ? O_RDONLY
		     : read ? O_RDWR
			    : O_WRONLY) |
			    O_CLOEXEC | O_NOFOLLOW | O_NOATIME);
	return fd < 0 ? -errno : fd;
}

struct store_obj *store_obj_ref(struct store_obj *obj)
{
	atomic_fetch_add_explicit(&obj->refs, 1, memory_order_relaxed);
	return obj;
}

void store_obj_put(struct store_obj *obj)
{
	if (atomic_fetch_sub_explicit(&obj->refs, 1, memory_order_acq_rel) > 1)
		return;
	fdcache_close(&obj->store->cache, obj);
	if (atomic_load(&obj->direct) >= 0)
		close(atomic_load(&obj->direct));
	close(obj->fd);
	free(obj);
}

unsigned int store_obj_moved(const struct store_obj *obj)
{
	return atomic_load(&obj->moved);
}

uint64_t store_obj_handle(const struct store_obj *obj)
{
	return obj->handle;
}
