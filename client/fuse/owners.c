/* SPDX-License-Identifier: BSD-2-Clause */
/* owners.c - see owners.h. */
#include "owners.h"

#include <errno.h>
#include <stdlib.h>

#include "hash_table.h"
#include "held.h"

struct place {
	uint64_t handle, owner;
};

struct entry {
	struct place place;
	UT_hash_handle hh;
};

struct owners {
	pthread_mutex_t lock;
	struct entry *all;
};

struct owners *owners_new(void)
{
	struct owners *o = calloc(1, sizeof(*o));

	if (o)
		pthread_mutex_init(&o->lock, NULL);
	return o;
}

void owners_free(struct owners *o)
{
	struct entry *e, *next;

	if (!o)
		return;
	HASH_ITER(hh, o->all, e, next) {
		HASH_DEL(o->all, e);
		free(e);
	}
	pthread_mutex_destroy(&o->lock);
	free(o);
}

static struct entry *find(struct owners *o, const struct place *place)
{
	struct entry *e;

	HASH_FIND(hh, o->all, place, sizeof(*place), e);
	return e;
}

int owners_note(struct owners *o, const struct file *f, uint64_t owner)
{
	const struct place place = { f->handle, owner };
	struct entry *e = calloc(1, sizeof(*e));
	bool there, added;

	if (!e)
		return -ENOMEM;
	e->place = place;
	pthread_mutex_lock(&o->lock);
	there = find(o, &place);
	if (!there)
		HASH_ADD(hh, o->all, place, sizeof(place), e);
	added = e->hh.tbl;
	pthread_mutex_unlock(&o->lock);
	if (!added)
		free(e);
	return there || added ? 0 : -ENOMEM;
}

static bool forget(struct owners *o, const struct place *place)
{
	struct entry *e;

	pthread_mutex_lock(&o->lock);
	e = find(o, place);
	if (e)
		HASH_DEL(o->all, e);
	pthread_mutex_unlock(&o->lock);
	free(e);
	return e;
}

static int do_lock(struct session *s, const struct target *t, void *arg)
{
	struct mgr_lock *lock = arg;

	lock->session = s->id;
	return mgr_lock(s, t, lock);
}

int owners_lock(struct file *f, struct mgr_lock *lock)
{
	const struct mgr_lock want = *lock;
	int rc = file_run(f, do_lock, lock);

	if (!rc && !(want.flags & WIRE_L_TEST)) {
		struct mgr_lock got = want;

		got.session = lock->session;
		lock_note(f, &got);
	}
	return rc;
}

/* A close holds nothing back: what the mgr does not answer is sent again. */
static void drop(struct file *f, const struct mgr_lock *all)
{
	struct mgr_lock lock = *all;
	struct session *s;

	if (!owners_lock(f, &lock) || fs_session(f->fs, &s))
		return;
	mgr_unlock(s, f->handle, all);
	session_put(s);
}

void owners_drop(struct owners *o, struct file *f, uint64_t owner)
{
	const struct place place = { f->handle, owner };
	const struct mgr_lock all = { .owner = owner, .end = INT64_MAX };

	if (forget(o, &place))
		drop(f, &all);
}

void owners_drop_whole(struct file *f, uint64_t owner)
{
	const struct mgr_lock all = { .owner = owner,
				      .end = INT64_MAX,
				      .flags = WIRE_L_WHOLE };

	drop(f, &all);
}
