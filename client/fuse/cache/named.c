/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * named.c - tables with one place per name and per object; entries may replace each
 * other.
 */
#include "client/fuse/cache/named.h"

#include <pthread.h>
#include <stdlib.h>

#include "common/util/fnv.h"

#define PLACES 16384u

struct place {
	uint64_t name; /* 0: unused */
	uint64_t handle;
};

struct named {
	pthread_mutex_t lock;
	struct place place[PLACES];
	struct gone_was dir[PLACES]; /* .st.st_ino 0: unused */
	struct gone_was object[PLACES]; /* of other types */
};

struct named *named_new(void)
{
	struct named *n = calloc(1, sizeof(*n));

	if (n)
		pthread_mutex_init(&n->lock, NULL);
	return n;
}

void named_free(struct named *n)
{
	if (!n)
		return;
	pthread_mutex_destroy(&n->lock);
	free(n);
}

uint64_t named_of(uint64_t dir, const char *name)
{
	uint64_t is = fnv_text(FNV_START ^ dir, name);

	return is ? is : 1;
}

static struct place *place_of(struct named *n, uint64_t name)
{
	return &n->place[(name ^ name >> 32) % PLACES];
}

static struct gone_was *object_of(struct named *n, uint64_t handle)
{
	struct gone_was *dir = &n->dir[handle % PLACES];

	return dir->st.st_ino == handle ? dir : &n->object[handle % PLACES];
}

/* The files of a directory that a program has open must not replace the directory. */
void named_told(struct named *n, const struct stat *st)
{
	struct gone_was *to = S_ISDIR(st->st_mode) ? n->dir : n->object;
	struct gone_was *o = &to[st->st_ino % PLACES];

	pthread_mutex_lock(&n->lock);
	if (o->st.st_ino != st->st_ino)
		o->lacks = 0;
	o->st = *st;
	pthread_mutex_unlock(&n->lock);
}

void named_lacks(struct named *n, uint64_t handle, uint32_t what)
{
	struct gone_was *o = object_of(n, handle);

	pthread_mutex_lock(&n->lock);
	if (o->st.st_ino == handle)
		o->lacks = what;
	pthread_mutex_unlock(&n->lock);
}

static void put(struct named *n, uint64_t name, uint64_t handle)
{
	if (name && handle)
		*place_of(n, name) = (struct place){ name, handle };
}

void named_entry(struct named *n, uint64_t name, uint64_t handle)
{
	pthread_mutex_lock(&n->lock);
	put(n, name, handle);
	pthread_mutex_unlock(&n->lock);
}

bool named_is(struct named *n, uint64_t name)
{
	const struct place *p = place_of(n, name);
	bool is;

	pthread_mutex_lock(&n->lock);
	is = p->name == name && object_of(n, p->handle)->st.st_ino == p->handle;
	pthread_mutex_unlock(&n->lock);
	return is;
}

uint64_t named_handle(struct named *n, uint64_t name)
{
	const struct place *p = place_of(n, name);
	uint64_t handle;

	pthread_mutex_lock(&n->lock);
	handle = name && p->name == name ? p->handle : 0;
	pthread_mutex_unlock(&n->lock);
	return handle;
}

/* Forgets the name.  Returns its handle; 0: unknown. */
static uint64_t take(struct named *n, uint64_t name)
{
	struct place *p = place_of(n, name);

	if (!name || p->name != name)
		return 0;
	p->name = 0;
	return p->handle;
}

/*
 * Removes one name of the object.  True: it was the last, and *was is the object's
 * state.  A directory has one name.
 */
static bool unname(struct named *n, uint64_t handle, struct gone_was *was)
{
	struct gone_was *o = object_of(n, handle);

	if (!handle || o->st.st_ino != handle)
		return false;
	*was = *o;
	if (!S_ISDIR(o->st.st_mode) && o->st.st_nlink > 1) {
		o->st.st_nlink--;
		return false;
	}
	o->st.st_ino = 0;
	return true;
}

void named_removed(struct named *n, uint64_t name, struct gone *g)
{
	struct gone_was was;
	bool is;

	pthread_mutex_lock(&n->lock);
	is = unname(n, take(n, name), &was);
	pthread_mutex_unlock(&n->lock);
	if (is)
		gone_note(g, &was);
}

void named_lost(struct named *n, uint64_t handle, struct gone *g)
{
	struct gone_was *o = object_of(n, handle), was;
	bool is;

	pthread_mutex_lock(&n->lock);
	is = o->st.st_ino == handle;
	was = *o;
	if (is)
		o->st.st_ino = 0;
	pthread_mutex_unlock(&n->lock);
	if (is)
		gone_note(g, &was);
}

void named_moved(struct named *n, uint64_t from, uint64_t to, bool swaps,
		 struct gone *g)
{
	uint64_t comes, goes;
	struct gone_was was;
	bool is;

	pthread_mutex_lock(&n->lock);
	comes = take(n, from);
	goes = take(n, to);
	/* if both names are of one object, neither is removed */
	is = !swaps && comes != goes && unname(n, goes, &was);
	put(n, to, comes);
	if (swaps || comes == goes)
		put(n, from, goes);
	pthread_mutex_unlock(&n->lock);
	if (is)
		gone_note(g, &was);
}
