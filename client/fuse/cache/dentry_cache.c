/* SPDX-License-Identifier: BSD-2-Clause */
/* dentry_cache.c - see dentry_cache.h. */
#include "client/fuse/cache/dentry_cache.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "common/util/clock.h"
#include "common/util/hash_table.h"

#define RECORDS_MAX 32768u
#define PARENTS 16384u
#define LOCKED 4096u
#define WAYS 8u
#define BATCH 16u
#define SETTLE_NS (DENTRY_CACHE_SETTLE_MS * CLOCK_NS_PER_MS)
#define LOCKED_DIR_NS (10000 * CLOCK_NS_PER_MS)
/*
 * If a lookup took longer, the kernel may not keep the name.  This is half of LOCKED_DIR_NS.  So
 * the reply to a lookup that began before a lock either is too slow or arrives while the directory
 * still counts as locked.  In both cases the kernel does not keep the name.
 */
#define SLOW_NS (LOCKED_DIR_NS / 2)

/* A name that the kernel may keep. */
struct dentry_record {
	uint64_t key; /* name_key() */
	uint64_t at; /* clock_now() */
	struct dentry is;
	char name[NAME_MAX + 1];
	TAILQ_ENTRY(dentry_record) link;
	UT_hash_handle hh;
};
TAILQ_HEAD(dentry_record_list, dentry_record);

/*
 * A directory in which a file is or was locked.  The kernel may keep no new name in it until
 * `until`. Names that the kernel got before `since` must expire before a lock is granted.
 * Afterwards, expired equals since, and later grants do not expire them again.
 */
struct locked_dir {
	uint64_t dir; /* 0: all directories */
	uint64_t since, until;
	uint64_t expired;
};

struct dentry_parent {
	uint64_t handle;
	uint64_t dir; /* 0: maybe several */
	uint64_t until; /* until when the kernel may keep a name of it */
};

/* Names to expire, copied in the order of .oldest. */
struct expiry_batch {
	struct dentry_record *next; /* NULL: the end */
	LIST_ENTRY(expiry_batch) link;
	unsigned int n;
	struct dentry is[BATCH];
	char name[BATCH][NAME_MAX + 1];
};

struct dentry_cache {
	double timeout;
	uint64_t keep_ns; /* how long the kernel may keep a name after .at */

	pthread_mutex_t lock; /* protects all below */
	struct dentry_record *records;
	struct dentry_record_list oldest; /* ordered by .at */
	LIST_HEAD(, expiry_batch) expiries; /* in progress */
	unsigned int n;
	/* for directories that are unknown, or have no slot */
	struct locked_dir all;
	struct locked_dir locked[LOCKED]; /* a directory has one of WAYS slots */
	/* objects with the same slot replace each other */
	struct dentry_parent parent[PARENTS];
	/*
	 * True: a file was renamed out of the directory, so files that were opened there may now be
	 * in another one.  Directories with the same slot share the flag.
	 */
	bool loses_files[LOCKED];
};

struct dentry_cache *dentry_cache_new(double timeout)
{
	struct dentry_cache *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->timeout = timeout;
	c->keep_ns = (uint64_t)(timeout * 1e9) + SETTLE_NS;
	TAILQ_INIT(&c->oldest);
	LIST_INIT(&c->expiries);
	pthread_mutex_init(&c->lock, NULL);
	return c;
}

/*
 * Called with the lock, like the static functions below, except sleep_until(),
 * next_batch() and expire_all().
 */
static void record_unlink(struct dentry_cache *c, struct dentry_record *n)
{
	struct expiry_batch *b;

	LIST_FOREACH(b, &c->expiries, link)
		if (b->next == n)
			b->next = TAILQ_NEXT(n, link);
	TAILQ_REMOVE(&c->oldest, n, link);
}

static void record_free(struct dentry_cache *c, struct dentry_record *n)
{
	if (n->hh.tbl)
		HASH_DEL(c->records, n);
	record_unlink(c, n);
	c->n--;
	free(n);
}

void dentry_cache_free(struct dentry_cache *c)
{
	struct dentry_record *n;

	if (!c)
		return;
	while ((n = TAILQ_FIRST(&c->oldest)))
		record_free(c, n);
	pthread_mutex_destroy(&c->lock);
	free(c);
}

/* ---- directories ---- */

static struct dentry_parent *parent_of(struct dentry_cache *c, uint64_t handle)
{
	return &c->parent[handle % PARENTS];
}

static void parent_record(struct dentry_cache *c, const struct dentry *dentry,
			  uint64_t until)
{
	struct dentry_parent *p = parent_of(c, dentry->handle);

	if (!dentry->handle)
		return;
	if (p->handle == dentry->handle && p->until > until)
		until = p->until;
	*p = (struct dentry_parent){ dentry->handle,
				     dentry->linked ? 0 : dentry->dir, until };
}

bool dentry_cache_may_hold(struct dentry_cache *c, uint64_t handle)
{
	const struct dentry_parent *p = parent_of(c, handle);
	bool may;

	if (c->timeout <= 0)
		return false;
	pthread_mutex_lock(&c->lock);
	may = p->handle != handle || p->until >= clock_now();
	pthread_mutex_unlock(&c->lock);
	return may;
}

/* 0: any directory. */
static uint64_t file_dir(struct dentry_cache *c, const struct dentry_file *f)
{
	const struct dentry_parent *p = parent_of(c, f->handle);

	if (p->handle == f->handle)
		return p->dir;
	return c->loses_files[f->opened % LOCKED] ? 0 : f->opened;
}

uint64_t dentry_cache_dir_of(struct dentry_cache *c, uint64_t handle)
{
	const struct dentry_file f = { handle, 0 };
	uint64_t dir;

	pthread_mutex_lock(&c->lock);
	dir = file_dir(c, &f);
	pthread_mutex_unlock(&c->lock);
	return dir;
}

static struct locked_dir *way_of(struct dentry_cache *c, uint64_t dir,
				 unsigned int i)
{
	return &c->locked[(dir + i) % LOCKED];
}

/* NULL: dir has no slot. */
static struct locked_dir *find_locked(struct dentry_cache *c, uint64_t dir)
{
	for (unsigned int i = 0; i < WAYS; i++)
		if (way_of(c, dir, i)->dir == dir)
			return way_of(c, dir, i);
	return NULL;
}

static struct locked_dir *locked_of(struct dentry_cache *c, uint64_t dir,
				    uint64_t now)
{
	struct locked_dir *l = dir ? find_locked(c, dir) : &c->all;

	for (unsigned int i = 0; !l && i < WAYS; i++)
		if (way_of(c, dir, i)->until < now) {
			l = way_of(c, dir, i);
			*l = (struct locked_dir){ .dir = dir };
		}
	return l ? l : &c->all;
}

static bool is_locked(struct dentry_cache *c, uint64_t dir, uint64_t now)
{
	const struct locked_dir *l = find_locked(c, dir);

	return c->all.until >= now || (l && l->until >= now);
}

static struct locked_dir *lock_dir(struct dentry_cache *c,
				   const struct dentry_file *f)
{
	uint64_t now = clock_now();
	struct locked_dir *l = locked_of(c, file_dir(c, f), now);

	if (l->until < now)
		l->since = now;
	l->until = now + LOCKED_DIR_NS;
	return l;
}

void dentry_cache_lock_dir(struct dentry_cache *c, const struct dentry_file *f)
{
	if (c->timeout <= 0)
		return;
	pthread_mutex_lock(&c->lock);
	lock_dir(c, f);
	pthread_mutex_unlock(&c->lock);
}

/* ---- names ---- */

static uint64_t name_key(uint64_t dir, const char *name)
{
	return fnv_text(FNV_START ^ dir, name);
}

static bool is_same(const struct dentry_record *n, const struct dentry *dentry)
{
	return n->is.dir == dentry->dir && !strcmp(n->name, dentry->name);
}

static struct dentry_record *record_find(struct dentry_cache *c, uint64_t key)
{
	struct dentry_record *n;

	HASH_FIND(hh, c->records, &key, sizeof(key), n);
	return n;
}

static bool is_settled(const struct dentry_record *n, uint64_t now)
{
	return n->at + SETTLE_NS < now;
}

/* NULL: there is no room. */
static struct dentry_record *record_new(struct dentry_cache *c, uint64_t key,
					const struct dentry *dentry)
{
	size_t len = strlen(dentry->name);
	struct dentry_record *n;

	if (c->n >= RECORDS_MAX || len > NAME_MAX)
		return NULL;
	n = calloc(1, sizeof(*n));
	if (!n)
		return NULL;
	n->key = key;
	memcpy(n->name, dentry->name, len + 1);
	HASH_ADD(hh, c->records, key, sizeof(n->key), n);
	if (!n->hh.tbl) {
		free(n);
		return NULL;
	}
	TAILQ_INSERT_TAIL(&c->oldest, n, link);
	c->n++;
	return n;
}

/*
 * Records the name.  Returns false if there is no room, or another name with the same key is
 * recorded.
 */
static bool record_add(struct dentry_cache *c, const struct dentry *dentry,
		       uint64_t now)
{
	uint64_t key = name_key(dentry->dir, dentry->name);
	struct dentry_record *n = record_find(c, key);
	pid_t thread;

	if (n && !is_same(n, dentry))
		return false;
	if (!n)
		n = record_new(c, key, dentry);
	if (!n)
		return false;
	thread = n->is.thread == dentry->thread || is_settled(n, now)
			 ? dentry->thread
			 : 0;
	n->is = *dentry;
	n->is.name = n->name;
	n->is.thread = thread;
	n->at = now;
	record_unlink(c, n);
	TAILQ_INSERT_TAIL(&c->oldest, n, link);
	return true;
}

/* Removes up to max names that the kernel no longer keeps. */
static void forget_old(struct dentry_cache *c, uint64_t now, unsigned int max)
{
	struct dentry_record *n;

	while (max-- && (n = TAILQ_FIRST(&c->oldest)) &&
	       n->at + c->keep_ns < now)
		record_free(c, n);
}

double dentry_cache_add(struct dentry_cache *c, const struct dentry *dentry,
			uint64_t begun)
{
	uint64_t now = clock_now();
	bool keeps;

	if (c->timeout <= 0)
		return 0;
	pthread_mutex_lock(&c->lock);
	forget_old(c, now, 2);
	keeps = now - begun < SLOW_NS && !is_locked(c, dentry->dir, now) &&
		record_add(c, dentry, now);
	parent_record(c, dentry, keeps ? now + c->keep_ns : 0);
	pthread_mutex_unlock(&c->lock);
	return keeps ? c->timeout : 0;
}

/*
 * Moves a record to its new name.  If the new directory has a lock, its names may have expired
 * already (locked_dir.expired), but not this record, which may be older than the last lock there.
 * So `since` is set again, and the next grant expires all names of the directory once more.
 */
static void record_rename(struct dentry_cache *c, struct dentry_record *n,
			  const struct dentry *to)
{
	struct locked_dir *l = find_locked(c, to->dir);

	HASH_DEL(c->records, n);
	n->key = name_key(to->dir, to->name);
	n->is.dir = to->dir;
	memcpy(n->name, to->name, strnlen(to->name, NAME_MAX) + 1);
	n->name[NAME_MAX] = '\0';
	HASH_ADD(hh, c->records, key, sizeof(n->key), n);
	c->all.since = clock_now();
	if (l)
		l->since = c->all.since;
}

/* The kernel does no LOOKUP after a rename, so nothing else records the directory. */
static void parent_move(struct dentry_cache *c, const struct dentry *from,
			uint64_t dir)
{
	struct dentry_parent *p = parent_of(c, from->handle);

	if (from->dir == dir)
		return;
	c->loses_files[from->dir % LOCKED] = true;
	if (from->handle && p->handle == from->handle)
		p->dir = p->dir == from->dir ? dir : 0;
	for (unsigned int i = 0; !from->handle && i < PARENTS; i++)
		if (c->parent[i].dir == from->dir)
			c->parent[i].dir = 0;
}

void dentry_cache_rename(struct dentry_cache *c, const struct dentry *from,
			 const struct dentry *to, bool swaps)
{
	struct dentry_record *one, *other;

	pthread_mutex_lock(&c->lock);
	one = record_find(c, name_key(from->dir, from->name));
	other = record_find(c, name_key(to->dir, to->name));
	one = one && is_same(one, from) ? one : NULL;
	other = other && is_same(other, to) && other != one ? other : NULL;
	if (other && swaps)
		record_rename(c, other, from);
	else if (other && one)
		record_free(c, other); /* the kernel drops it, too */
	if (one)
		record_rename(c, one, to);
	parent_move(c, from, to->dir);
	if (swaps)
		parent_move(c, to, from->dir);
	pthread_mutex_unlock(&c->lock);
}

/* ---- grants of locks ---- */

static bool is_in(const struct dentry_record *n, uint64_t dir)
{
	return !dir || n->is.dir == dir;
}

/*
 * Returns the time by which the kernel has processed all replies for names in dir.  Replies
 * to `thread` do not count: it has requested a lock since, so the kernel has processed them.
 */
static uint64_t settles_at(struct dentry_cache *c, uint64_t dir, pid_t thread)
{
	const struct dentry_record *n;
	uint64_t at = 0;

	forget_old(c, clock_now(), RECORDS_MAX);
	TAILQ_FOREACH(n, &c->oldest, link)
		if (is_in(n, dir) && (!thread || n->is.thread != thread))
			at = n->at;
	return at + SETTLE_NS;
}

static void sleep_until(uint64_t at)
{
	const struct timespec ts = clock_timespec(at);

	while (clock_now() < at)
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
}

static void add_to_batch(struct expiry_batch *b, const struct dentry_record *n)
{
	b->is[b->n] = n->is;
	memcpy(b->name[b->n], n->name, sizeof(n->name));
	b->is[b->n].name = b->name[b->n];
	b->n++;
}

/* Copies the next names; false: there are no more. */
static bool next_batch(struct dentry_cache *c, uint64_t dir,
		       struct expiry_batch *b)
{
	b->n = 0;
	pthread_mutex_lock(&c->lock);
	for (; b->next && b->n < BATCH; b->next = TAILQ_NEXT(b->next, link))
		if (is_in(b->next, dir))
			add_to_batch(b, b->next);
	pthread_mutex_unlock(&c->lock);
	return b->n;
}

static void expire_all(struct dentry_cache *c, uint64_t dir,
		       dentry_expire_fn *expire, void *arg)
{
	struct expiry_batch b;

	pthread_mutex_lock(&c->lock);
	b.next = TAILQ_FIRST(&c->oldest);
	LIST_INSERT_HEAD(&c->expiries, &b, link);
	pthread_mutex_unlock(&c->lock);
	while (next_batch(c, dir, &b))
		for (unsigned int i = 0; i < b.n; i++)
			expire(&b.is[i], arg);
	pthread_mutex_lock(&c->lock);
	LIST_REMOVE(&b, link);
	pthread_mutex_unlock(&c->lock);
}

void dentry_cache_expire(struct dentry_cache *c, const struct dentry_file *f,
			 pid_t thread, dentry_expire_fn *expire, void *arg)
{
	struct locked_dir *l, was;
	uint64_t at = 0;

	if (c->timeout <= 0)
		return;
	pthread_mutex_lock(&c->lock);
	l = lock_dir(c, f);
	was = *l;
	if (was.expired != was.since)
		at = settles_at(c, was.dir, thread);
	pthread_mutex_unlock(&c->lock);
	if (!at)
		return;
	sleep_until(at);
	expire_all(c, was.dir, expire, arg);
	pthread_mutex_lock(&c->lock);
	if (l->dir == was.dir && l->since == was.since)
		l->expired = was.since;
	pthread_mutex_unlock(&c->lock);
}
