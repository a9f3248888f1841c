/* SPDX-License-Identifier: BSD-2-Clause */
/* writeback_errors.c - counts of write-back errors. */
#include <stdlib.h>

#include "server/store/writeback_errors.h"

void writeback_errors_init(struct writeback_errors *t, unsigned int max)
{
	pthread_mutex_init(&t->lock, NULL);
	t->objs = NULL;
	t->users = 0;
	t->max = max ? max : WRITEBACK_ERRORS_MAX;
	atomic_init(&t->all.gen, 0);
	atomic_init(&t->all.last, 0);
}

void writeback_errors_destroy(struct writeback_errors *t)
{
	pthread_mutex_destroy(&t->lock);
}

/* Needs the lock, as does the next function. */
static struct object_errors *find_object(struct writeback_errors *t,
					 struct object_key key)
{
	struct object_errors *obj;

	HASH_FIND(hh, t->objs, &key, sizeof(key), obj);
	return obj;
}

static struct object_errors *make_object(struct writeback_errors *t,
					 struct object_key key)
{
	struct object_errors *obj = calloc(1, sizeof(*obj));

	if (!obj)
		return NULL;
	obj->key = key;
	HASH_ADD(hh, t->objs, key, sizeof(obj->key), obj);
	if (obj->hh.tbl)
		return obj;
	free(obj);
	return NULL;
}

struct object_errors *writeback_errors_get(struct writeback_errors *t,
					   struct object_key key)
{
	struct object_errors *obj = NULL;

	pthread_mutex_lock(&t->lock);
	if (t->users < t->max) {
		obj = find_object(t, key);
		if (!obj)
			obj = make_object(t, key);
	}
	if (obj) {
		obj->users++;
		t->users++;
	}
	pthread_mutex_unlock(&t->lock);
	return obj;
}

void writeback_errors_put(struct writeback_errors *t, struct object_errors *obj)
{
	pthread_mutex_lock(&t->lock);
	t->users--;
	if (!--obj->users) {
		HASH_DEL(t->objs, obj);
		free(obj);
	}
	pthread_mutex_unlock(&t->lock);
}

bool writeback_errors_has(struct writeback_errors *t, struct object_key key)
{
	bool used;

	pthread_mutex_lock(&t->lock);
	used = find_object(t, key);
	pthread_mutex_unlock(&t->lock);
	return used;
}

static void count_error(struct error_count *err, int status)
{
	atomic_store(&err->last, status);
	atomic_fetch_add(&err->gen, 1);
}

void writeback_errors_add(struct writeback_errors *t, struct object_key key,
			  int status)
{
	struct object_errors *obj;

	pthread_mutex_lock(&t->lock);
	obj = find_object(t, key);
	if (obj)
		count_error(&obj->err, status);
	count_error(&t->all, status);
	pthread_mutex_unlock(&t->lock);
}
