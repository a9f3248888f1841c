/* SPDX-License-Identifier: BSD-2-Clause */
/* lock_owners.c - see lock_owners.h. */
#include "client/fuse/lock_owners.h"

#include <errno.h>
#include <stdlib.h>

#include "client/lib/file/held.h"
#include "client/lib/session/call_context.h"
#include "common/util/hash_table.h"
#include "common/util/watched_descriptor.h"

#define LISTS 256u

struct lock_owner_key {
	uint64_t handle, owner;
};

struct lock_owner {
	struct lock_owner_key key;
	const struct file *file; /* the last file that the owner used */
	bool ends; /* is being released */
	UT_hash_handle hh;
	/* in the list of this file; not if it ends */
	LIST_ENTRY(lock_owner) link;
};

struct lock_owners {
	pthread_mutex_t lock; /* protects all below */
	pthread_cond_t ended; /* an owner's locks were released */
	struct lock_owner *all;
	LIST_HEAD(lock_owner_list, lock_owner) file[LISTS]; /* by file */
};

struct lock_owners *lock_owners_new(void)
{
	struct lock_owners *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	pthread_mutex_init(&o->lock, NULL);
	pthread_cond_init(&o->ended, NULL);
	for (unsigned int i = 0; i < LISTS; i++)
		LIST_INIT(&o->file[i]);
	return o;
}

void lock_owners_free(struct lock_owners *o)
{
	struct lock_owner *e, *next;

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

static struct lock_owner *owner_find(struct lock_owners *o,
				     const struct lock_owner_key *key)
{
	struct lock_owner *e;

	HASH_FIND(hh, o->all, key, sizeof(*key), e);
	return e;
}

static struct lock_owner_list *list_of(struct lock_owners *o,
				       const struct file *f)
{
	return &o->file[(uintptr_t)f / 64 % LISTS];
}

static struct lock_owner *file_first_owner(struct lock_owners *o,
					   const struct file *f)
{
	struct lock_owner *e;

	LIST_FOREACH(e, list_of(o, f), link)
		if (e->file == f)
			break;
	return e;
}

static void owner_set_file(struct lock_owners *o, struct lock_owner *e,
			   const struct file *f)
{
	e->file = f;
	LIST_INSERT_HEAD(list_of(o, f), e, link);
}

static int owner_add(struct lock_owners *o, const struct lock_owner_key *key,
		     const struct file *f)
{
	struct lock_owner *e = calloc(1, sizeof(*e));

	if (!e)
		return -ENOMEM;
	e->key = *key;
	HASH_ADD(hh, o->all, key, sizeof(*key), e);
	if (!e->hh.tbl) {
		free(e);
		return -ENOMEM;
	}
	owner_set_file(o, e, f);
	return 0;
}

/* Called with the lock, which is released meanwhile. */
static int owner_wait_ended(struct lock_owners *o,
			    const struct lock_owner_key *key, uint64_t until)
{
	struct timespec at = clock_timespec(until);
	struct lock_owner *e;
	int rc = 0;

	while (!rc && (e = owner_find(o, key)) && e->ends)
		rc = pthread_cond_clockwait(&o->ended, &o->lock,
					    CLOCK_MONOTONIC, &at);
	return -rc;
}

/* ---- a lock ---- */

static bool owner_is_ending(struct lock_owners *o,
			    const struct lock_owner_key *key)
{
	const struct lock_owner *e = owner_find(o, key);

	return e && e->ends;
}

static int owner_record(struct lock_owners *o, const struct lock_owner_key *key,
			const struct file *f)
{
	struct lock_owner *e = owner_find(o, key);

	if (!e)
		return owner_add(o, key, f);
	LIST_REMOVE(e, link);
	owner_set_file(o, e, f);
	return 0;
}

int lock_owners_add(struct lock_owners *o, struct file *f, uint64_t owner)
{
	const struct lock_owner_key key = { f->handle, owner };
	int rc = 0;

	pthread_mutex_lock(&o->lock);
	if (owner_is_ending(o, &key)) {
		pthread_mutex_unlock(&o->lock);
		watched_descriptor_hand_over();
		pthread_mutex_lock(&o->lock);
		rc = owner_wait_ended(o, &key,
				      deadline_of(f->fs->mount->timeout_ms));
	}
	if (!rc)
		rc = owner_record(o, &key, f);
	pthread_mutex_unlock(&o->lock);
	return rc;
}

/* Returns true if the owner had an entry, and it was not being released. */
static bool owner_remove(struct lock_owners *o,
			 const struct lock_owner_key *key)
{
	struct lock_owner *e;
	bool removes;

	pthread_mutex_lock(&o->lock);
	e = owner_find(o, key);
	removes = e && !e->ends;
	if (removes) {
		LIST_REMOVE(e, link);
		HASH_DEL(o->all, e);
		free(e);
	}
	pthread_mutex_unlock(&o->lock);
	return removes;
}

static int do_lock(struct session *s, const struct target *t, void *arg)
{
	struct mgr_lock *lock = arg;

	lock->session = s->id;
	return mgr_lock(s, t, lock);
}

int lock_owners_send_lock(struct file *f, struct mgr_lock *lock)
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
 * Unlocks at a close.  If the manager did not answer the unlock, sends it again without
 * waiting for the answer, so that the close ends.
 */
static void drop_locks(struct file *f, const struct mgr_lock *all)
{
	struct mgr_lock lock = *all;
	struct session *s;

	if (!lock_owners_send_lock(f, &lock) || fs_session(f->fs, &s))
		return;
	mgr_unlock(s, f->handle, all);
	session_put(s);
}

void lock_owners_drop(struct lock_owners *o, struct file *f, uint64_t owner)
{
	const struct lock_owner_key key = { f->handle, owner };
	const struct mgr_lock all = { .owner = owner, .end = INT64_MAX };

	if (owner_remove(o, &key))
		drop_locks(f, &all);
}

void lock_owners_release(struct lock_owners *o, struct file *f)
{
	struct mgr_lock all = { .end = INT64_MAX };
	struct lock_owner *e;

	pthread_mutex_lock(&o->lock);
	while ((e = file_first_owner(o, f))) {
		LIST_REMOVE(e, link);
		e->ends = true;
		all.owner = e->key.owner;
		pthread_mutex_unlock(&o->lock);
		drop_locks(f, &all);
		pthread_mutex_lock(&o->lock);
		HASH_DEL(o->all, e);
		free(e);
		pthread_cond_broadcast(&o->ended);
	}
	pthread_mutex_unlock(&o->lock);
}

void lock_owners_release_flock(struct file *f)
{
	const struct mgr_lock all = { .owner = file_owner(f),
				      .end = INT64_MAX,
				      .flags = WIRE_L_WHOLE };

	drop_locks(f, &all);
	f->owner = 0; /* f has no other locks */
}
