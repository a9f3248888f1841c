/* SPDX-License-Identifier: BSD-2-Clause */
/* wberr.c - counts of write-back errors. */
#include <stdlib.h>

#include "server/store/wberr.h"

void wberr_init(struct wberr_table *t, unsigned int max)
{
	pthread_mutex_init(&t->lock, NULL);
	t->objs = NULL;
	t->users = 0;
	t->max = max ? max : WBERR_MAX;
	atomic_init(&t->all.gen, 0);
	atomic_init(&t->all.last, 0);
}

void wberr_destroy(struct wberr_table *t)
{
	pthread_mutex_destroy(&t->lock);
}

/* Needs the lock, as does the next function. */
static struct wberr_obj *find(struct wberr_table *t, uint64_t handle)
{
	struct wberr_obj *obj;

	HASH_FIND(hh, t->objs, &handle, sizeof(handle), obj);
	return obj;
}

static struct wberr_obj *make(struct wberr_table *t, uint64_t handle)
{
	struct wberr_obj *obj = calloc(1, sizeof(*obj));

	if (!obj)
		return NULL;
	obj->handle = handle;
	HASH_ADD(hh, t->objs, handle, sizeof(obj->handle), obj);
	if (obj->hh.tbl)
		return obj;
	free(obj);
	return NULL;
}

struct wberr_obj *wberr_use(struct wberr_table *t, uint64_t handle)
{
	struct wberr_obj *obj = NULL;

	pthread_mutex_lock(&t->lock);
	if (t->users < t->max) {
		obj = find(t, handle);
		if (!obj)
			obj = make(t, handle);
	}
	if (obj) {
		obj->users++;
		t->users++;
	}
	pthread_mutex_unlock(&t->lock);
	return obj;
}

void wberr_drop(struct wberr_table *t, struct wberr_obj *obj)
{
	pthread_mutex_lock(&t->lock);
	t->users--;
	if (!--obj->users) {
		HASH_DEL(t->objs, obj);
		free(obj);
	}
	pthread_mutex_unlock(&t->lock);
}

bool wberr_used(struct wberr_table *t, uint64_t handle)
{
	bool used;

	pthread_mutex_lock(&t->lock);
	used = find(t, handle);
	pthread_mutex_unlock(&t->lock);
	return used;
}

static void note(struct wberr *err, int status)
{
	atomic_store(&err->last, status);
	atomic_fetch_add(&err->gen, 1);
}

void wberr_note(struct wberr_table *t, uint64_t handle, int status)
{
	struct wberr_obj *obj;

	pthread_mutex_lock(&t->lock);
	obj = find(t, handle);
	if (obj)
		note(&obj->err, status);
	note(&t->all, status);
	pthread_mutex_unlock(&t->lock);
}
