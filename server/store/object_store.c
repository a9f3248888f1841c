/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * object_store.c - a store: opening it, whether it is the one that the manager expects, and its
 * objects by key.
 */
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
#include "common/util/container.h"
#include "common/util/random_id.h"
#include "server/store/store_int.h"

#define MAX_OPEN_DEFAULT 1024u
#define WRITE_OUT_MAX 256u /* evicted objects that are written out at a time */

/* ---- the claim ---- */

/* A stamp with an identity and without an owner: the store was made and never claimed. */
static bool is_new(const struct object_store *store)
{
	return store->stamp.store && !store->stamp.owner;
}

static int open_stamp(struct object_store *store,
		      const struct object_store_attr *attr)
{
	int rc;

	store->stamp = (struct stamp){ attr->fsid, "iod", attr->index };
	rc = random_id(&store->stamp.store);
	store->dirfd = rc ? rc
			  : stamp_open(attr->dir, &store->stamp, attr->log);
	if (store->dirfd < 0)
		return store->dirfd;
	if (attr->lost && !is_new(store)) {
		log_error(attr->log,
			  "--new-store is for an empty folder, and storage %s "
			  "holds a store: start without it, or empty the "
			  "folder first",
			  attr->dir);
		return -EINVAL;
	}
	store->new_accepted = attr->lost;
	atomic_init(&store->claimed, false);
	return stamp_step(store->dirfd, attr->dir, &store->stamp, attr->log);
}

static enum store_verdict judge_claim(const struct object_store *store,
				      const struct store_claim *claim)
{
	const struct stamp *stamp = &store->stamp;

	if (stamp->owner && stamp->owner != claim->owner)
		return STORE_FOREIGN;
	/* also if the answer to the first claim was lost */
	if (store->new_accepted)
		return STORE_OURS;
	if (!stamp->store) /* made by a release that did not claim stores */
		return claim->fresh ? STORE_FOREIGN : STORE_OURS;
	if (stamp->owner)
		return claim->store && claim->store != stamp->store
			       ? STORE_REPLACED
			       : STORE_OURS;
	return claim->fresh && !claim->store ? STORE_OURS : STORE_REPLACED;
}

static int write_owner(struct object_store *store,
		       const struct store_claim *claim)
{
	struct stamp stamp = store->stamp;
	int rc = 0;

	if (!stamp.store)
		stamp.store = claim->store;
	if (!stamp.store)
		rc = random_id(&stamp.store);
	stamp.owner = claim->owner;
	if (!rc)
		rc = stamp_write(store->dirfd, &stamp);
	if (rc)
		log_error(store->log, "cannot write the stamp: %s",
			  strerror(-rc));
	else
		store->stamp = stamp;
	return rc;
}

int store_claim(struct object_store *store, const struct store_claim *claim)
{
	int verdict, rc = 0;

	pthread_mutex_lock(&store->claim_lock);
	verdict = judge_claim(store, claim);
	if (verdict == STORE_OURS && !claim->ask) {
		if (!store->stamp.owner)
			rc = write_owner(store, claim);
		if (!rc)
			atomic_store(&store->claimed, true);
	}
	pthread_mutex_unlock(&store->claim_lock);
	return rc ? rc : verdict;
}

bool store_claimed(const struct object_store *store)
{
	return atomic_load(&store->claimed);
}

uint64_t store_identity(struct object_store *store)
{
	uint64_t id;

	pthread_mutex_lock(&store->claim_lock);
	id = store->stamp.store;
	pthread_mutex_unlock(&store->claim_lock);
	return id;
}

bool store_is_new(struct object_store *store)
{
	bool yes;

	pthread_mutex_lock(&store->claim_lock);
	yes = is_new(store);
	pthread_mutex_unlock(&store->claim_lock);
	return yes;
}

/* ---- opening and closing ---- */

/* An empty directory.  If it is missing, somebody has removed the objects. */
#define MARK "objects/here"

static int make_objects(struct object_store *store)
{
	if (mkdirat(store->dirfd, "objects", 0700) && errno != EEXIST)
		return -errno;
	if (mkdirat(store->dirfd, MARK, 0700) && errno != EEXIST)
		return -errno;
	return fsync(store->dirfd) ? -errno : 0;
}

/*
 * Opens the directory of the objects.  If the store was never claimed, creates the directories;
 * otherwise they must exist.
 */
static int open_objects(struct object_store *store)
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
	object_copy_clean(store);
	return 0;
}

/*
 * The iod writes the owner into the stamp before it records the manager's term.  So if there is a
 * term but no owner, the line with the owner was lost, and the store would be taken for a new one.
 * Stores of early releases have neither.
 */
static int check_owner(struct object_store *store, const char *dir)
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

static int open_parts(struct object_store *store, const char *dir)
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
static int read_size(void *arg, struct object_key key, struct object_size *size)
{
	struct store_stat st;
	int rc = store_stat(arg, key, &st);

	if (!rc)
		*size = (struct object_size){ st.size, st.blocks, st.mtime };
	return rc;
}

static int open_size_table(struct object_store *store)
{
	const struct size_table_attr attr = { .places = SIZE_TABLE_PLACES,
					      .look = read_size,
					      .arg = store,
					      .clock = clock_now };

	return size_table_open(&attr, &store->sizes);
}

int store_open(const struct object_store_attr *attr, struct object_store **out)
{
	struct object_store *store;
	int rc;

	store = calloc(1, sizeof(*store));
	if (!store)
		return -ENOMEM;
	store->log = attr->log;
	store->objfd = -1;
	store->pool = attr->pool;
	object_cache_init(&store->cache,
			  attr->max_open ? attr->max_open : MAX_OPEN_DEFAULT,
			  attr->max_kept);
	writeback_errors_init(&store->errors, attr->max_marks);
	pthread_mutex_init(&store->claim_lock, NULL);
	pthread_mutex_init(&store->flush_lock, NULL);
	store->dirfd = -1;
	rc = gate_open(clock_boot, &store->gate);
	if (!rc && attr->shows)
		rc = open_size_table(store);
	if (!rc && attr->share)
		rc = block_table_open(attr->share, &store->blocks);
	if (!rc)
		rc = open_stamp(store, attr);
	if (!rc)
		rc = open_parts(store, attr->dir);
	if (rc)
		store_close(store);
	else
		*out = store;
	return rc;
}

void store_close(struct object_store *store)
{
	object_cache_destroy(&store->cache);
	writeback_errors_destroy(&store->errors);
	store_fence_free(store);
	block_table_close(store->blocks);
	size_table_close(store->sizes);
	gate_close(store->gate);
	pthread_mutex_destroy(&store->flush_lock);
	pthread_mutex_destroy(&store->claim_lock);
	if (store->objfd >= 0)
		close(store->objfd);
	if (store->dirfd >= 0)
		close(store->dirfd);
	free(store);
}

/* ---- the whole store ---- */

struct gate *store_gate(struct object_store *store)
{
	return store->gate;
}

struct size_table *store_size_table(struct object_store *store)
{
	return store->sizes;
}

struct block_table *store_block_table(struct object_store *store)
{
	return store->blocks;
}

bool store_in_memory(const struct object_store *store)
{
	return store->memory;
}

bool store_can_direct(const struct object_store *store)
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

int store_statfs(struct object_store *store, struct statvfs *fs)
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

uint64_t store_disk(struct object_store *store)
{
	struct stat sb;
	char text[64];
	ssize_t n = read_boot_id(text, sizeof(text));

	if (n <= 0 || fstat(store->objfd, &sb))
		return 0;
	return XXH3_64bits_withSeed(text, (size_t)n, sb.st_dev) ?: 1;
}

const struct timing *store_flush_times(const struct object_store *store)
{
	return &store->flush_times;
}

/* ---- objects by key ---- */

static int unlink_object(struct object_store *store, struct object_key key)
{
	char path[OBJECT_PATH_LEN];
	struct gate_entry entry;
	int rc;

	object_path_make(key, path);
	store_change_begin(store, key);
	gate_enter(store->gate, key, UINT64_MAX, &entry);
	rc = unlinkat(store->objfd, path, 0) ? -errno : 0;
	if (!rc)
		object_cache_remove(&store->cache, key);
	gate_leave(store->gate, &entry);
	store_change_end(store, key);
	return rc == -ENOENT ? 0 : rc;
}

int store_remove(struct object_store *store, struct object_key key,
		 bool durable)
{
	int rc = unlink_object(store, key);

	if (rc || !durable)
		return rc;
	return object_tree_sync_removal(store, key);
}

static int open_object(struct object_store *store, struct object_key key,
		       bool create, struct store_obj **out)
{
	struct store_obj *obj;
	int fd;

	obj = calloc(1, sizeof(*obj));
	if (!obj)
		return -ENOMEM;
	fd = object_tree_open(store, key, create);
	if (fd < 0) {
		free(obj);
		return fd;
	}
	obj->key = key;
	obj->store = store;
	obj->fd = fd;
	atomic_init(&obj->direct, -1);
	atomic_init(&obj->refs, 1);
	STAILQ_INIT(&obj->group.waits);
	*out = obj;
	return 0;
}

static void finish_closing(struct store_obj *obj)
{
	atomic_fetch_sub(&obj->store->writing_out, 1);
	object_cache_finish_closing(&obj->store->cache, obj);
}

static void on_written_out(struct flush_wait *wait, int status)
{
	finish_closing(container_of(wait, struct store_obj, write_out));
}

/*
 * The kernel reports an unseen write-back error to the next process that opens the file, but
 * forgets it if it evicts the inode before.  So an object is written out before it is closed.  If
 * WRITE_OUT_MAX objects are already being written out, this one is not; the next open then usually
 * reports the error.
 */
static void close_evicted(struct store_obj *obj)
{
	struct object_store *store = obj->store;

	obj->write_out.done = on_written_out;
	if (atomic_fetch_add(&store->writing_out, 1) < WRITE_OUT_MAX &&
	    store->pool)
		store_obj_write_out_start(obj, store->pool, &obj->write_out);
	else
		finish_closing(obj);
}

int store_obj_get(struct object_store *store, struct object_key key,
		  bool create, struct store_obj **out)
{
	struct store_obj *obj, *closing;
	uint64_t ticket;
	int rc;

	while (!(obj = object_cache_find(&store->cache, key, &ticket))) {
		rc = open_object(store, key, create, &obj);
		if (rc)
			return rc;
		obj = object_cache_add(&store->cache, obj, ticket, &closing);
		if (closing)
			close_evicted(closing);
		if (obj)
			break;
	}
	*out = obj;
	return 0;
}
