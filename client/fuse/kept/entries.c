/* SPDX-License-Identifier: BSD-2-Clause */
/* entries.c - see entries.h. */
#include "client/fuse/kept/entries.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "common/util/clock.h"
#include "common/util/fnv.h"
#include "common/util/hash_table.h"

#define NOTED_MAX 32768u
#define PARENTS 16384u
#define LOCKED 4096u
#define WAYS 8u
#define BATCH 16u
#define SETTLE_NS (ENTRIES_SETTLE_MS * CLOCK_NS_PER_MS)
#define LOCKED_NS (10000 * CLOCK_NS_PER_MS)
/*
 * Half of it: a reply to a request from before a lock comes while the directory is
 * locked, or is too slow to be kept.
 */
#define SLOW_NS (LOCKED_NS / 2)

/* A name that the kernel may keep. */
struct noted {
	uint64_t key; /* key_of() */
	uint64_t at; /* clock_now() */
	struct entry_name is;
	char name[NAME_MAX + 1];
	TAILQ_ENTRY(noted) link;
	UT_hash_handle hh;
};
TAILQ_HEAD(noted_list, noted);

/* A directory in which the kernel may keep no name. */
struct locked {
	uint64_t dir; /* 0: all directories */
	uint64_t since, until;
	/* equal to since: all names recorded before it have expired */
	uint64_t expired;
};

struct parent {
	uint64_t handle;
	uint64_t dir; /* 0: maybe several */
	uint64_t kept; /* until when the kernel may keep a name of it */
};

/* Names to expire, copied in the order of .oldest. */
struct expiry_batch {
	struct noted *next; /* NULL: the end */
	LIST_ENTRY(expiry_batch) link;
	unsigned int n;
	struct entry_name is[BATCH];
	char name[BATCH][NAME_MAX + 1];
};

struct entry_table {
	double timeout;
	uint64_t kept_ns; /* how long the kernel may keep a name after .at */

	pthread_mutex_t lock; /* protects all below */
	struct noted *noted;
	struct noted_list oldest; /* ordered by .at */
	LIST_HEAD(, expiry_batch) expiries; /* in progress */
	unsigned int n;
	/* for directories that are unknown, or have no place */
	struct locked all;
	struct locked locked[LOCKED]; /* a directory has one of WAYS places */
	/* objects with the same place replace each other */
	struct parent parent[PARENTS];
	/*
	 * A file was renamed out of the directory: files that were opened there may be
	 * elsewhere.  Directories with the same place share it.
	 */
	bool loses_files[LOCKED];
};

struct entry_table *entries_new(double timeout)
{
	struct entry_table *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->timeout = timeout;
	e->kept_ns = (uint64_t)(timeout * 1e9) + SETTLE_NS;
	TAILQ_INIT(&e->oldest);
	LIST_INIT(&e->expiries);
	pthread_mutex_init(&e->lock, NULL);
	return e;
}

/*
 * Called with the lock, like the static functions below, except sleep_until(),
 * next_batch() and expire_all().
 */
static void noted_unlink(struct entry_table *e, struct noted *n)
{
	struct expiry_batch *b;

	LIST_FOREACH(b, &e->expiries, link)
		if (b->next == n)
			b->next = TAILQ_NEXT(n, link);
	TAILQ_REMOVE(&e->oldest, n, link);
}

static void noted_forget(struct entry_table *e, struct noted *n)
{
	if (n->hh.tbl)
		HASH_DEL(e->noted, n);
	noted_unlink(e, n);
	e->n--;
	free(n);
}

void entries_free(struct entry_table *e)
{
	struct noted *n;

	if (!e)
		return;
	while ((n = TAILQ_FIRST(&e->oldest)))
		noted_forget(e, n);
	pthread_mutex_destroy(&e->lock);
	free(e);
}

/* ---- directories ---- */

static struct parent *parent_of(struct entry_table *e, uint64_t handle)
{
	return &e->parent[handle % PARENTS];
}

static void note_parent(struct entry_table *e, const struct entry_name *what,
			uint64_t kept)
{
	struct parent *p = parent_of(e, what->handle);

	if (!what->handle)
		return;
	if (p->handle == what->handle && p->kept > kept)
		kept = p->kept;
	*p = (struct parent){ what->handle, what->linked ? 0 : what->dir,
			      kept };
}

bool entries_may_keep(struct entry_table *e, uint64_t handle)
{
	const struct parent *p = parent_of(e, handle);
	bool may;

	if (e->timeout <= 0)
		return false;
	pthread_mutex_lock(&e->lock);
	may = p->handle != handle || p->kept >= clock_now();
	pthread_mutex_unlock(&e->lock);
	return may;
}

/* 0: any directory. */
static uint64_t dir_of(struct entry_table *e, const struct entries_file *f)
{
	const struct parent *p = parent_of(e, f->handle);

	if (p->handle == f->handle)
		return p->dir;
	return e->loses_files[f->opened % LOCKED] ? 0 : f->opened;
}

uint64_t entries_dir(struct entry_table *e, uint64_t handle)
{
	const struct entries_file f = { handle, 0 };
	uint64_t dir;

	pthread_mutex_lock(&e->lock);
	dir = dir_of(e, &f);
	pthread_mutex_unlock(&e->lock);
	return dir;
}

static struct locked *way_of(struct entry_table *e, uint64_t dir,
			     unsigned int i)
{
	return &e->locked[(dir + i) % LOCKED];
}

/* NULL: dir has no place. */
static struct locked *find_locked(struct entry_table *e, uint64_t dir)
{
	for (unsigned int i = 0; i < WAYS; i++)
		if (way_of(e, dir, i)->dir == dir)
			return way_of(e, dir, i);
	return NULL;
}

static struct locked *locked_of(struct entry_table *e, uint64_t dir,
				uint64_t now)
{
	struct locked *l = dir ? find_locked(e, dir) : &e->all;

	for (unsigned int i = 0; !l && i < WAYS; i++)
		if (way_of(e, dir, i)->until < now) {
			l = way_of(e, dir, i);
			*l = (struct locked){ .dir = dir };
		}
	return l ? l : &e->all;
}

static bool is_locked(struct entry_table *e, uint64_t dir, uint64_t now)
{
	const struct locked *l = find_locked(e, dir);

	return e->all.until >= now || (l && l->until >= now);
}

static struct locked *lock_dir(struct entry_table *e,
			       const struct entries_file *f)
{
	uint64_t now = clock_now();
	struct locked *l = locked_of(e, dir_of(e, f), now);

	if (l->until < now)
		l->since = now;
	l->until = now + LOCKED_NS;
	return l;
}

void entries_lock(struct entry_table *e, const struct entries_file *f)
{
	if (e->timeout <= 0)
		return;
	pthread_mutex_lock(&e->lock);
	lock_dir(e, f);
	pthread_mutex_unlock(&e->lock);
}

/* ---- names ---- */

static uint64_t key_of(uint64_t dir, const char *name)
{
	return fnv_text(FNV_START ^ dir, name);
}

static bool is_same(const struct noted *n, const struct entry_name *what)
{
	return n->is.dir == what->dir && !strcmp(n->name, what->name);
}

static struct noted *noted_find(struct entry_table *e, uint64_t key)
{
	struct noted *n;

	HASH_FIND(hh, e->noted, &key, sizeof(key), n);
	return n;
}

static bool is_settled(const struct noted *n, uint64_t now)
{
	return n->at + SETTLE_NS < now;
}

/* NULL: there is no room. */
static struct noted *noted_make(struct entry_table *e, uint64_t key,
				const struct entry_name *what)
{
	size_t len = strlen(what->name);
	struct noted *n;

	if (e->n >= NOTED_MAX || len > NAME_MAX)
		return NULL;
	n = calloc(1, sizeof(*n));
	if (!n)
		return NULL;
	n->key = key;
	memcpy(n->name, what->name, len + 1);
	HASH_ADD(hh, e->noted, key, sizeof(n->key), n);
	if (!n->hh.tbl) {
		free(n);
		return NULL;
	}
	TAILQ_INSERT_TAIL(&e->oldest, n, link);
	e->n++;
	return n;
}

/* False: the name cannot be recorded. */
static bool noted_add(struct entry_table *e, const struct entry_name *what,
		      uint64_t now)
{
	uint64_t key = key_of(what->dir, what->name);
	struct noted *n = noted_find(e, key);
	pid_t thread;

	if (n && !is_same(n, what))
		return false;
	if (!n)
		n = noted_make(e, key, what);
	if (!n)
		return false;
	thread = n->is.thread == what->thread || is_settled(n, now)
			 ? what->thread
			 : 0;
	n->is = *what;
	n->is.name = n->name;
	n->is.thread = thread;
	n->at = now;
	noted_unlink(e, n);
	TAILQ_INSERT_TAIL(&e->oldest, n, link);
	return true;
}

/* Removes up to max names that the kernel no longer keeps. */
static void forget_old(struct entry_table *e, uint64_t now, unsigned int max)
{
	struct noted *n;

	while (max-- && (n = TAILQ_FIRST(&e->oldest)) &&
	       n->at + e->kept_ns < now)
		noted_forget(e, n);
}

double entries_keep(struct entry_table *e, const struct entry_name *what,
		    uint64_t begun)
{
	uint64_t now = clock_now();
	bool keeps;

	if (e->timeout <= 0)
		return 0;
	pthread_mutex_lock(&e->lock);
	forget_old(e, now, 2);
	keeps = now - begun < SLOW_NS && !is_locked(e, what->dir, now) &&
		noted_add(e, what, now);
	note_parent(e, what, keeps ? now + e->kept_ns : 0);
	pthread_mutex_unlock(&e->lock);
	return keeps ? e->timeout : 0;
}

/*
 * The names must expire again: another host may have used the directory under a lock
 * since the kernel got this name.
 */
static void rename_noted(struct entry_table *e, struct noted *n,
			 const struct entry_name *to)
{
	struct locked *l = find_locked(e, to->dir);

	HASH_DEL(e->noted, n);
	n->key = key_of(to->dir, to->name);
	n->is.dir = to->dir;
	memcpy(n->name, to->name, strnlen(to->name, NAME_MAX) + 1);
	n->name[NAME_MAX] = '\0';
	HASH_ADD(hh, e->noted, key, sizeof(n->key), n);
	e->all.since = clock_now();
	if (l)
		l->since = e->all.since;
}

/* The kernel does no LOOKUP after a rename, so nothing else records the directory. */
static void move_parent(struct entry_table *e, const struct entry_name *from,
			uint64_t dir)
{
	struct parent *p = parent_of(e, from->handle);

	if (from->dir == dir)
		return;
	e->loses_files[from->dir % LOCKED] = true;
	if (from->handle && p->handle == from->handle)
		p->dir = p->dir == from->dir ? dir : 0;
	for (unsigned int i = 0; !from->handle && i < PARENTS; i++)
		if (e->parent[i].dir == from->dir)
			e->parent[i].dir = 0;
}

void entries_moved(struct entry_table *e, const struct entry_name *from,
		   const struct entry_name *to, bool swaps)
{
	struct noted *one, *other;

	pthread_mutex_lock(&e->lock);
	one = noted_find(e, key_of(from->dir, from->name));
	other = swaps ? noted_find(e, key_of(to->dir, to->name)) : NULL;
	if (one && is_same(one, from))
		rename_noted(e, one, to);
	if (other && is_same(other, to))
		rename_noted(e, other, from);
	move_parent(e, from, to->dir);
	if (swaps)
		move_parent(e, to, from->dir);
	pthread_mutex_unlock(&e->lock);
}

/* ---- grants of locks ---- */

static bool is_in(const struct noted *n, uint64_t dir)
{
	return !dir || n->is.dir == dir;
}

/*
 * Returns when the kernel has used all replies in dir.  Replies to the thread do not
 * count: it has requested the lock since.
 */
static uint64_t settles_at(struct entry_table *e, uint64_t dir, pid_t thread)
{
	const struct noted *n;
	uint64_t at = 0;

	forget_old(e, clock_now(), NOTED_MAX);
	TAILQ_FOREACH(n, &e->oldest, link)
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

static void add_to_batch(struct expiry_batch *b, const struct noted *n)
{
	b->is[b->n] = n->is;
	memcpy(b->name[b->n], n->name, sizeof(n->name));
	b->is[b->n].name = b->name[b->n];
	b->n++;
}

/* Copies the next names; false: there are no more. */
static bool next_batch(struct entry_table *e, uint64_t dir,
		       struct expiry_batch *b)
{
	b->n = 0;
	pthread_mutex_lock(&e->lock);
	for (; b->next && b->n < BATCH; b->next = TAILQ_NEXT(b->next, link))
		if (is_in(b->next, dir))
			add_to_batch(b, b->next);
	pthread_mutex_unlock(&e->lock);
	return b->n;
}

static void expire_all(struct entry_table *e, uint64_t dir,
		       entries_expire_fn *expire, void *arg)
{
	struct expiry_batch b;

	pthread_mutex_lock(&e->lock);
	b.next = TAILQ_FIRST(&e->oldest);
	LIST_INSERT_HEAD(&e->expiries, &b, link);
	pthread_mutex_unlock(&e->lock);
	while (next_batch(e, dir, &b))
		for (unsigned int i = 0; i < b.n; i++)
			expire(&b.is[i], arg);
	pthread_mutex_lock(&e->lock);
	LIST_REMOVE(&b, link);
	pthread_mutex_unlock(&e->lock);
}

void entries_expire(struct entry_table *e, const struct entries_file *f,
		    pid_t thread, entries_expire_fn *expire, void *arg)
{
	struct locked *l, was;
	uint64_t at = 0;

	if (e->timeout <= 0)
		return;
	pthread_mutex_lock(&e->lock);
	l = lock_dir(e, f);
	was = *l;
	if (was.expired != was.since)
		at = settles_at(e, was.dir, thread);
	pthread_mutex_unlock(&e->lock);
	if (!at)
		return;
	sleep_until(at);
	expire_all(e, was.dir, expire, arg);
	pthread_mutex_lock(&e->lock);
	if (l->dir == was.dir && l->since == was.since)
		l->expired = was.since;
	pthread_mutex_unlock(&e->lock);
}
