/* SPDX-License-Identifier: BSD-2-Clause */
/* owners.c - see owners.h. */
#include "client/fuse/owners.h"

#include <errno.h>
#include <stdlib.h>

#include "common/util/hash_table.h"
#include "client/lib/session/call_context.h"
#include "client/lib/file/held.h"
#include "common/util/watched_descriptor.h"

#define LISTS 256u

struct place {
	uint64_t handle, owner;
};

struct entry {
	struct place place;
	const struct file *through; /* the last file that the owner used */
	bool ends; /* is being released */
	UT_hash_handle hh;
	/* among the entries of this file; not if it ends */
	LIST_ENTRY(entry) link;
};

struct owners {
	pthread_mutex_t lock;
	pthread_cond_t ended;
	struct entry *all;
	LIST_HEAD(entries, entry) through[LISTS];
};

struct owners *owners_new(void)
{
	struct owners *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	pthread_mutex_init(&o->lock, NULL);
	pthread_cond_init(&o->ended, NULL);
	for (unsigned int i = 0; i < LISTS; i++)
		LIST_INIT(&o->through[i]);
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
	pthread_cond_destroy(&o->ended);
	pthread_mutex_destroy(&o->lock);
	free(o);
}

/* ---- lock owners: called with the lock ---- */

static struct entry *find(struct owners *o, const struct place *place)
{
	struct entry *e;

	HASH_FIND(hh, o->all, place, sizeof(*place), e);
	return e;
}

static struct entries *list_of(struct owners *o, const struct file *f)
{
	return &o->through[(uintptr_t)f / 64 % LISTS];
}

static struct entry *first_through(struct owners *o, const struct file *f)
{
	struct entry *e;

	LIST_FOREACH(e, list_of(o, f), link)
		if (e->through == f)
			break;
	return e;
}

static void go_through(struct owners *o, struct entry *e, const struct file *f)
{
	e->through = f;
	LIST_INSERT_HEAD(list_of(o, f), e, link);
}

static int add(struct owners *o, const struct place *place,
	       const struct file *f)
{
	struct entry *e = calloc(1, sizeof(*e));

	if (!e)
		return -ENOMEM;
	e->place = *place;
	HASH_ADD(hh, o->all, place, sizeof(*place), e);
	if (!e->hh.tbl) {
		free(e);
		return -ENOMEM;
	}
	go_through(o, e, f);
	return 0;
}

/* Called with the lock, which is released meanwhile. */
static int wait_ended(struct owners *o, const struct place *place,
		      uint64_t until)
{
	struct timespec at = clock_timespec(until);
	struct entry *e;
	int rc = 0;

	while (!rc && (e = find(o, place)) && e->ends)
		rc = pthread_cond_clockwait(&o->ended, &o->lock,
					    CLOCK_MONOTONIC, &at);
	return -rc;
}

/* ---- a lock ---- */

static bool is_ending(struct owners *o, const struct place *place)
{
	const struct entry *e = find(o, place);

	return e && e->ends;
}

static int note(struct owners *o, const struct place *place,
		const struct file *f)
{
	struct entry *e = find(o, place);

	if (!e)
		return add(o, place, f);
	LIST_REMOVE(e, link);
	go_through(o, e, f);
	return 0;
}

int owners_note(struct owners *o, struct file *f, uint64_t owner)
{
	const struct place place = { f->handle, owner };
	int rc = 0;

	pthread_mutex_lock(&o->lock);
	if (is_ending(o, &place)) {
		pthread_mutex_unlock(&o->lock);
		watched_descriptor_hand_over();
		pthread_mutex_lock(&o->lock);
		rc = wait_ended(o, &place,
				deadline_of(f->fs->mount->timeout_ms));
	}
	if (!rc)
		rc = note(o, &place, f);
	pthread_mutex_unlock(&o->lock);
	return rc;
}

static bool forget(struct owners *o, const struct place *place)
{
	struct entry *e;

	pthread_mutex_lock(&o->lock);
	e = find(o, place);
	if (e && e->ends)
		e = NULL;
	if (e) {
		LIST_REMOVE(e, link);
		HASH_DEL(o->all, e);
	}
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
		lock_record(f, &got);
	}
	return rc;
}

/* ---- releasing ---- */

/*
 * A close does not wait longer: what the manager did not answer is sent again without
 * waiting.
 */
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

void owners_release(struct owners *o, struct file *f)
{
	struct mgr_lock all = { .end = INT64_MAX };
	struct entry *e;

	pthread_mutex_lock(&o->lock);
	while ((e = first_through(o, f))) {
		LIST_REMOVE(e, link);
		e->ends = true;
		all.owner = e->place.owner;
		pthread_mutex_unlock(&o->lock);
		drop(f, &all);
		pthread_mutex_lock(&o->lock);
		HASH_DEL(o->all, e);
		free(e);
		pthread_cond_broadcast(&o->ended);
	}
	pthread_mutex_unlock(&o->lock);
}

void owners_release_whole(struct file *f)
{
	const struct mgr_lock all = { .owner = file_owner(f),
				      .end = INT64_MAX,
				      .flags = WIRE_L_WHOLE };

	drop(f, &all);
	f->owner = 0; /* f has no other locks */
}
