/* SPDX-License-Identifier: BSD-2-Clause */
/* gone.c - see gone.h. */
#include "gone.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "hash_table.h"

struct entry {
	ino_t n;
	struct stat st;
	UT_hash_handle hh;
};

struct gone {
	pthread_mutex_t lock;
	struct entry *all;
	atomic_uint count; /* of all: mostly 0, and nobody need look */
};

struct gone *gone_new(void)
{
	struct gone *g = calloc(1, sizeof(*g));

	if (g)
		pthread_mutex_init(&g->lock, NULL);
	return g;
}

void gone_free(struct gone *g)
{
	struct entry *e, *next;

	if (!g)
		return;
	HASH_ITER(hh, g->all, e, next) {
		HASH_DEL(g->all, e);
		free(e);
	}
	pthread_mutex_destroy(&g->lock);
	free(g);
}

void gone_note(struct gone *g, const struct stat *st)
{
	struct entry *e = calloc(1, sizeof(*e));

	if (!e)
		return;
	e->n = st->st_ino;
	e->st = *st;
	e->st.st_nlink = 0;
	clock_gettime(CLOCK_REALTIME, &e->st.st_ctim);
	pthread_mutex_lock(&g->lock);
	if (g->count < GONE_MAX) {
		HASH_ADD(hh, g->all, n, sizeof(e->n), e);
		if (e->hh.tbl) {
			g->count++;
			e = NULL;
		}
	}
	pthread_mutex_unlock(&g->lock);
	free(e);
}

static struct entry *find(struct gone *g, ino_t n)
{
	struct entry *e = NULL;

	if (g->count)
		HASH_FIND(hh, g->all, &n, sizeof(n), e);
	return e;
}

bool gone_is(struct gone *g, ino_t n, struct stat *st)
{
	struct entry *e;

	pthread_mutex_lock(&g->lock);
	e = find(g, n);
	if (e)
		*st = e->st;
	pthread_mutex_unlock(&g->lock);
	return e;
}

void gone_forget(struct gone *g, ino_t n)
{
	struct entry *e;

	if (!g->count)
		return;
	pthread_mutex_lock(&g->lock);
	e = find(g, n);
	if (e) {
		HASH_DEL(g->all, e);
		g->count--;
	}
	pthread_mutex_unlock(&g->lock);
	free(e);
}
