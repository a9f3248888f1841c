/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * object_tree.c - the files of objects in the hashed tree: their names, and the durability of
 * these.
 */
#include "server/store/object_tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/store/store_int.h"

#define LONG_BITS (8 * sizeof(long))

/* Fibonacci hashing (Knuth, TAOCP vol. 3, 6.4): the top bits depend on all bits of the handle. */
unsigned int object_path_leaf(uint64_t handle)
{
	return (unsigned int)((handle * 0x9e3779b97f4a7c15ull) >> 52);
}

void object_path_make(struct object_key key, char path[OBJECT_PATH_LEN])
{
	unsigned int leaf = object_path_leaf(key.handle);

	snprintf(path, OBJECT_PATH_LEN, "%02x/%02x/%s",
		 leaf / OBJECT_PATH_FAN % OBJECT_PATH_FAN,
		 leaf % OBJECT_PATH_FAN, object_key_text(key).s);
}

/* ---- opening ---- */

/* Returns -EIO instead of -ENOENT: a client would take -ENOENT for a missing file. */
static int make_dir(struct object_store *store, const char *dir)
{
	if (!mkdirat(store->objfd, dir, 0700) || errno == EEXIST)
		return 0;
	if (errno != ENOENT)
		return -errno;
	log_error(store->log, "the folder objects of the storage was removed: "
			      "stop the iod and restore it");
	return -EIO;
}

static int make_leaf(struct object_store *store, const char *path)
{
	char dir[OBJECT_PATH_LEN];
	int rc;

	memcpy(dir, path, OBJECT_PATH_LEN);
	dir[OBJECT_PATH_TOP] = '\0';
	rc = make_dir(store, dir);
	dir[OBJECT_PATH_TOP] = '/';
	dir[OBJECT_PATH_LEAF] = '\0';
	return rc ? rc : make_dir(store, dir);
}

int object_tree_open(struct object_store *store, struct object_key key,
		     bool create)
{
	const int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NOATIME;
	char path[OBJECT_PATH_LEN];
	int fd, rc;

	object_path_make(key, path);
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

/* ---- durability of names ---- */

static int sync_dir(struct object_store *store, const char *path)
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
static int sync_leaf_name(struct object_store *store, unsigned int leaf,
			  char *path)
{
	atomic_ulong *word = &store->leaf_named[leaf / LONG_BITS];
	unsigned long bit = 1ul << leaf % LONG_BITS;
	int rc;

	if (atomic_load(word) & bit)
		return 0;
	path[OBJECT_PATH_TOP] = '\0';
	rc = sync_dir(store, path);
	path[OBJECT_PATH_TOP] = '/';
	if (!rc && fsync(store->objfd))
		rc = -errno;
	if (!rc)
		atomic_fetch_or(word, bit);
	return rc;
}

int object_tree_sync_name(struct object_store *store, struct object_key key)
{
	char path[OBJECT_PATH_LEN];
	int rc;

	object_path_make(key, path);
	path[OBJECT_PATH_LEAF] = '\0';
	rc = sync_dir(store, path);
	return rc ? rc
		  : sync_leaf_name(store, object_path_leaf(key.handle), path);
}

int object_tree_sync_removal(struct object_store *store, struct object_key key)
{
	char path[OBJECT_PATH_LEN];
	int rc;

	object_path_make(key, path);
	path[OBJECT_PATH_LEAF] = '\0';
	rc = sync_dir(store, path);
	return rc == -ENOENT ? 0 : rc;
}

/* ---- listing, a few objects at a time ---- */

#define WALK_LEAVES_MAX 64 /* directories that one call reads */

/* The cap first keys after `after`, sorted. */
struct key_list {
	struct object_key after;
	struct object_key *key;
	uint32_t n, cap;
	bool more; /* there are more than cap */
};

static void list_add(struct key_list *l, struct object_key key)
{
	uint32_t i = l->n;

	if (!object_key_is_after(key, l->after))
		return;
	if (l->n == l->cap) {
		l->more = true;
		if (object_key_is_after(key, l->key[--i]))
			return;
	} else {
		l->n++;
	}
	for (; i && object_key_is_after(l->key[i - 1], key); i--)
		l->key[i] = l->key[i - 1];
	l->key[i] = key;
}

static int read_leaf(DIR *dir, uint32_t leaf, struct key_list *l)
{
	struct dirent *d;
	struct object_key key;

	errno = 0;
	while ((d = readdir(dir))) {
		if (object_key_parse(d->d_name, &key) &&
		    object_path_leaf(key.handle) == leaf)
			list_add(l, key);
		errno = 0;
	}
	return -errno;
}

static int list_leaf(struct object_store *store, uint32_t leaf,
		     struct key_list *l)
{
	char path[OBJECT_PATH_LEN];
	DIR *dir;
	int fd, rc;

	snprintf(path, sizeof(path), "%02x/%02x",
		 leaf / OBJECT_PATH_FAN % OBJECT_PATH_FAN,
		 leaf % OBJECT_PATH_FAN);
	fd = openat(store->objfd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	dir = fdopendir(fd);
	if (!dir) {
		rc = -errno;
		close(fd);
		return rc;
	}
	rc = read_leaf(dir, leaf, l);
	closedir(dir);
	return rc;
}

int store_walk(struct object_store *store, struct store_place *place,
	       struct object_key *key, uint32_t cap, uint32_t *n)
{
	struct store_place at = *place;
	uint32_t got = 0;

	for (int i = 0; i < WALK_LEAVES_MAX && got < cap; i++) {
		struct key_list l = { at.after, key + got, 0, cap - got,
				      false };
		int rc;

		if (at.leaf >= OBJECT_PATH_LEAVES) {
			at.leaf = STORE_LEAF_END;
			break;
		}
		rc = list_leaf(store, at.leaf, &l);
		if (rc)
			return rc;
		got += l.n;
		if (l.more) {
			at.after = key[got - 1];
			break;
		}
		at.after = (struct object_key){ 0 };
		at.leaf++;
	}
	*place = at;
	*n = got;
	return 0;
}
