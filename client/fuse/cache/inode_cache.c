/* SPDX-License-Identifier: BSD-2-Clause */
/* inode_cache.c - see inode_cache.h. */
#include "client/fuse/cache/inode_cache.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/queue.h>

#include "client/lib/names/mgr_requests.h"
#include "client/lib/names/stat.h"
#include "common/util/clock.h"
#include "common/util/hash_table.h"

#define NAMES 16384u /* names with the same slot replace each other */
#define SECOND_CHANCES 16u
#define RACY_NS 2000000000 /* clocks are coarse, and differ between hosts */

struct file_version {
	uint64_t size;
	int64_t mtime, ctime;
};

struct cached_inode {
	uint64_t handle;
	UT_hash_handle hh; /* next to its key */
	struct inode_list *list; /* NULL: removed */
	TAILQ_ENTRY(cached_inode) link; /* in *list */
	bool used; /* since it was considered for eviction */
	bool known; /* st is from a reply, and the inode has a name */
	bool is_link;
	bool has_version; /* the kernel may have pages of that version */
	uint32_t absent; /* of INODE_LACKS */
	uint64_t absent_until;
	uint64_t xattr_changed; /* replies to earlier requests do not count */
	struct file_version version;
	struct stat st; /* if known or removed */
};

/* The clock of one class of inodes; see evict_one(). */
struct inode_list {
	TAILQ_HEAD(, cached_inode) all; /* the next to be considered first */
	unsigned int n, max;
};

struct name_slot {
	uint64_t name; /* 0: unused */
	uint64_t handle;
};

struct inode_cache {
	/* of removed inodes; mostly 0, so that FORGET needs no lock */
	atomic_uint nremoved;

	pthread_mutex_t lock; /* protects all below */
	struct cached_inode *all;
	struct inode_list dirs, others;
	/* the highest .xattr_changed of inodes that have no entry */
	uint64_t xattr_changed;
	struct name_slot name[NAMES];
};

struct inode_cache *inode_cache_new(void)
{
	struct inode_cache *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->dirs.max = INODE_CACHE_DIRS_MAX;
	c->others.max = INODE_CACHE_MAX;
	TAILQ_INIT(&c->dirs.all);
	TAILQ_INIT(&c->others.all);
	pthread_mutex_init(&c->lock, NULL);
	return c;
}

void inode_cache_free(struct inode_cache *c)
{
	struct cached_inode *i, *next;

	if (!c)
		return;
	HASH_ITER(hh, c->all, i, next) {
		HASH_DEL(c->all, i);
		free(i);
	}
	pthread_mutex_destroy(&c->lock);
	free(c);
}

/* ---- entries; the static functions are called with the lock ---- */

static bool is_removed(const struct cached_inode *i)
{
	return !i->list;
}

static struct cached_inode *inode_find(struct inode_cache *c, uint64_t handle)
{
	struct cached_inode *i;

	HASH_FIND(hh, c->all, &handle, sizeof(handle), i);
	return i;
}

static void list_add(struct inode_list *l, struct cached_inode *i)
{
	i->list = l;
	TAILQ_INSERT_TAIL(&l->all, i, link);
	l->n++;
}

static void list_remove(struct cached_inode *i)
{
	TAILQ_REMOVE(&i->list->all, i, link);
	i->list->n--;
	i->list = NULL;
}

static void inode_delete(struct inode_cache *c, struct cached_inode *i)
{
	if (i->xattr_changed > c->xattr_changed)
		c->xattr_changed = i->xattr_changed;
	HASH_DEL(c->all, i);
	if (i->list)
		list_remove(i);
	else
		c->nremoved--;
	free(i);
}

/* The clock algorithm, but the wait for the lock is bounded. */
static void evict_one(struct inode_cache *c, struct inode_list *l)
{
	struct cached_inode *i = TAILQ_FIRST(&l->all);

	for (unsigned int n = 0; i->used && n < SECOND_CHANCES; n++) {
		i->used = false;
		list_remove(i);
		list_add(l, i);
		i = TAILQ_FIRST(&l->all);
	}
	inode_delete(c, i);
}

static struct cached_inode *inode_new(struct inode_cache *c, uint64_t handle,
				      mode_t mode)
{
	struct inode_list *l = S_ISDIR(mode) ? &c->dirs : &c->others;
	struct cached_inode *i;

	if (l->n >= l->max)
		evict_one(c, l);
	i = calloc(1, sizeof(*i));
	if (!i)
		return NULL;
	i->handle = handle;
	i->xattr_changed = c->xattr_changed;
	HASH_ADD(hh, c->all, handle, sizeof(i->handle), i);
	if (!i->hh.tbl) {
		free(i);
		return NULL;
	}
	list_add(l, i);
	return i;
}

/* Returns the inode's entry, which may be new; NULL: no memory. */
static struct cached_inode *inode_get(struct inode_cache *c, uint64_t handle,
				      mode_t mode)
{
	struct cached_inode *i = inode_find(c, handle);

	if (i)
		i->used = true;
	return i ? i : inode_new(c, handle, mode);
}

/* The inode has lost its last name: keeps the entry until the kernel forgets it. */
static void inode_remove(struct inode_cache *c, struct cached_inode *i)
{
	i->known = false;
	if (is_removed(i) || c->nremoved >= INODE_CACHE_REMOVED_MAX)
		return;
	i->st.st_nlink = 0;
	clock_gettime(CLOCK_REALTIME, &i->st.st_ctim);
	list_remove(i);
	c->nremoved++;
}

/* ---- names ---- */

uint64_t inode_cache_name(uint64_t dir, const char *name)
{
	uint64_t is = fnv_text(FNV_START ^ dir, name);

	return is ? is : 1;
}

static struct name_slot *name_slot(struct inode_cache *c, uint64_t name)
{
	return &c->name[(name ^ name >> 32) % NAMES];
}

static void name_put(struct inode_cache *c, uint64_t name, uint64_t handle)
{
	if (name && handle)
		*name_slot(c, name) = (struct name_slot){ name, handle };
}

static uint64_t name_handle(struct inode_cache *c, uint64_t name)
{
	const struct name_slot *s = name_slot(c, name);

	return name && s->name == name ? s->handle : 0;
}

/* Forgets the name.  Returns its handle; 0: unknown. */
static uint64_t name_take(struct inode_cache *c, uint64_t name)
{
	uint64_t handle = name_handle(c, name);

	if (handle)
		name_slot(c, name)->name = 0;
	return handle;
}

/* Records that the inode has lost a name.  A directory has only one, whatever its link count is. */
static void inode_drop_name(struct inode_cache *c, uint64_t handle)
{
	struct cached_inode *i = inode_find(c, handle);

	if (!i || !i->known)
		return;
	if (!S_ISDIR(i->st.st_mode) && i->st.st_nlink > 1)
		i->st.st_nlink--;
	else
		inode_remove(c, i);
}

void inode_cache_record_name(struct inode_cache *c, uint64_t name,
			     uint64_t handle)
{
	pthread_mutex_lock(&c->lock);
	name_put(c, name, handle);
	pthread_mutex_unlock(&c->lock);
}

bool inode_cache_knows(struct inode_cache *c, uint64_t name)
{
	const struct cached_inode *i;
	bool is;

	pthread_mutex_lock(&c->lock);
	i = inode_find(c, name_handle(c, name));
	is = i && i->known;
	pthread_mutex_unlock(&c->lock);
	return is;
}

uint64_t inode_cache_handle(struct inode_cache *c, uint64_t name)
{
	uint64_t handle;

	pthread_mutex_lock(&c->lock);
	handle = name_handle(c, name);
	pthread_mutex_unlock(&c->lock);
	return handle;
}

void inode_cache_unlink(struct inode_cache *c, uint64_t name)
{
	pthread_mutex_lock(&c->lock);
	inode_drop_name(c, name_take(c, name));
	pthread_mutex_unlock(&c->lock);
}

void inode_cache_rename(struct inode_cache *c, uint64_t from, uint64_t to,
			bool swaps)
{
	uint64_t moved, replaced;

	pthread_mutex_lock(&c->lock);
	moved = name_take(c, from);
	replaced = name_take(c, to);
	/* if both names are of one inode, neither is removed */
	if (!swaps && moved != replaced)
		inode_drop_name(c, replaced);
	name_put(c, to, moved);
	if (swaps || moved == replaced)
		name_put(c, from, replaced);
	pthread_mutex_unlock(&c->lock);
}

/* ---- replies ---- */

/*
 * A removed inode that still exists because it is open has no links.  If a reply for a
 * removed inode has links, it is from before the removal, and is not recorded.
 */
static void record_stat(struct cached_inode *i, const struct stat *st)
{
	if (is_removed(i) && st->st_nlink)
		return;
	i->st = *st;
	i->known = !is_removed(i);
}

static void record_lacks(struct cached_inode *i,
			 const struct inode_reply *reply)
{
	if (reply->asked <= i->xattr_changed)
		return;
	i->is_link = S_ISLNK(reply->attr->mode);
	i->absent = reply->attr->flags & INODE_LACKS;
	i->absent_until = reply->until;
}

void inode_cache_record(struct inode_cache *c, const struct inode_reply *reply)
{
	uint64_t handle = reply->st ? reply->st->st_ino : reply->attr->handle;
	mode_t mode = reply->st ? reply->st->st_mode : reply->attr->mode;
	struct cached_inode *i;

	pthread_mutex_lock(&c->lock);
	i = inode_get(c, handle, mode);
	if (i && reply->st)
		record_stat(i, reply->st);
	if (i && reply->attr)
		record_lacks(i, reply);
	name_put(c, reply->name, handle);
	pthread_mutex_unlock(&c->lock);
}

/* ---- extended attributes ---- */

/*
 * For a symbolic link, a missing access control list is not ENODATA but another error, so
 * only the manager can answer.
 */
static bool inode_lacks(const struct cached_inode *i, uint32_t what)
{
	uint32_t absent = i->is_link ? i->absent & WIRE_A_NOXATTR : i->absent;

	return absent & what && clock_now() < i->absent_until;
}

bool inode_cache_lacks(struct inode_cache *c, uint64_t handle, uint32_t what)
{
	const struct cached_inode *i;
	bool is;

	pthread_mutex_lock(&c->lock);
	i = inode_find(c, handle);
	is = i && inode_lacks(i, what);
	pthread_mutex_unlock(&c->lock);
	return is;
}

void inode_cache_xattr_changed(struct inode_cache *c, uint64_t handle)
{
	struct cached_inode *i;

	pthread_mutex_lock(&c->lock);
	i = inode_find(c, handle);
	if (i)
		i->absent = 0;
	*(i ? &i->xattr_changed : &c->xattr_changed) = clock_now();
	pthread_mutex_unlock(&c->lock);
}

/* ---- pages ---- */

static bool is_same(const struct file_version *a, const struct file_version *b)
{
	return a->size == b->size && a->mtime == b->mtime &&
	       a->ctime == b->ctime;
}

bool inode_cache_same_version(struct inode_cache *c, const struct stat *st)
{
	const struct file_version now = { .size = (uint64_t)st->st_size,
					  .mtime = stat_ns(&st->st_mtim),
					  .ctime = stat_ns(&st->st_ctim) };
	struct cached_inode *i;
	bool same = false;

	pthread_mutex_lock(&c->lock);
	i = inode_get(c, st->st_ino, st->st_mode);
	if (i) {
		same = i->has_version && is_same(&i->version, &now);
		i->version = now;
		i->has_version = clock_wall() - now.ctime >= RACY_NS;
	}
	pthread_mutex_unlock(&c->lock);
	return same;
}

/* ---- removed inodes ---- */

bool inode_cache_get_removed(struct inode_cache *c, uint64_t handle,
			     struct stat *st)
{
	struct cached_inode *i;
	bool is;

	pthread_mutex_lock(&c->lock);
	i = inode_find(c, handle);
	if (i && i->known)
		inode_remove(c, i);
	is = i && is_removed(i);
	if (is)
		*st = i->st;
	pthread_mutex_unlock(&c->lock);
	return is;
}

bool inode_cache_removed_lacks(struct inode_cache *c, uint64_t handle,
			       uint32_t what)
{
	const struct cached_inode *i;
	bool is;

	pthread_mutex_lock(&c->lock);
	i = inode_find(c, handle);
	is = i && is_removed(i) && i->absent & what;
	pthread_mutex_unlock(&c->lock);
	return is;
}

static void set_time(struct timespec *at, const struct setattr *how,
		     uint32_t given, uint32_t now, int64_t ns)
{
	if (how->valid & now)
		clock_gettime(CLOCK_REALTIME, at);
	else if (how->valid & given)
		*at = stat_time(ns);
}

static void set_stat(struct stat *st, const struct setattr *how)
{
	if (how->valid & WIRE_S_MODE)
		st->st_mode = (st->st_mode & S_IFMT) | (how->mode & 07777);
	if (how->valid & WIRE_S_UID && how->uid != UINT32_MAX)
		st->st_uid = how->uid;
	if (how->valid & WIRE_S_GID && how->gid != UINT32_MAX)
		st->st_gid = how->gid;
	set_time(&st->st_atim, how, WIRE_S_ATIME, WIRE_S_ATIME_NOW, how->atime);
	set_time(&st->st_mtim, how, WIRE_S_MTIME, WIRE_S_MTIME_NOW, how->mtime);
	clock_gettime(CLOCK_REALTIME, &st->st_ctim);
}

static bool may_set(const struct stat *st, uid_t uid, const struct setattr *how)
{
	bool gives = how->valid & WIRE_S_UID && how->uid != UINT32_MAX &&
		     how->uid != st->st_uid;

	return !uid || (uid == st->st_uid && !gives);
}

int inode_cache_set_removed(struct inode_cache *c, uint64_t handle, uid_t uid,
			    const struct setattr *how, struct stat *st)
{
	struct cached_inode *i;
	int rc = -ESTALE;

	pthread_mutex_lock(&c->lock);
	i = inode_find(c, handle);
	if (i && is_removed(i))
		rc = may_set(&i->st, uid, how) ? 0 : -EPERM;
	if (!rc) {
		set_stat(&i->st, how);
		*st = i->st;
	}
	pthread_mutex_unlock(&c->lock);
	return rc;
}

void inode_cache_forget(struct inode_cache *c, uint64_t handle)
{
	struct cached_inode *i;

	if (!c->nremoved)
		return;
	pthread_mutex_lock(&c->lock);
	i = inode_find(c, handle);
	if (i && is_removed(i))
		inode_delete(c, i);
	pthread_mutex_unlock(&c->lock);
}
