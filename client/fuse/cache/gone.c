/* SPDX-License-Identifier: BSD-2-Clause */
/* gone.c - see gone.h. */
#include "client/fuse/cache/gone.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "common/util/hash_table.h"
#include "client/lib/names/mgr_requests.h"
#include "client/lib/names/stat.h"

struct entry {
	ino_t n;
	struct gone_was was;
	UT_hash_handle hh;
};

struct gone {
	pthread_mutex_t lock;
	struct entry *all;
	atomic_uint count; /* of all; mostly 0, which makes a search short */
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

static struct entry *find(struct gone *g, ino_t n)
{
	struct entry *e = NULL;

	if (g->count)
		HASH_FIND(hh, g->all, &n, sizeof(n), e);
	return e;
}

void gone_note(struct gone *g, const struct gone_was *was)
{
	struct entry *e = calloc(1, sizeof(*e));

	if (!e)
		return;
	e->n = was->st.st_ino;
	e->was = *was;
	e->was.st.st_nlink = 0;
	clock_gettime(CLOCK_REALTIME, &e->was.st.st_ctim);
	pthread_mutex_lock(&g->lock);
	if (g->count < GONE_MAX && !find(g, e->n)) {
		HASH_ADD(hh, g->all, n, sizeof(e->n), e);
		if (e->hh.tbl) {
			g->count++;
			e = NULL;
		}
	}
	pthread_mutex_unlock(&g->lock);
	free(e);
}

bool gone_is(struct gone *g, ino_t n, struct stat *st)
{
	struct entry *e;

	pthread_mutex_lock(&g->lock);
	e = find(g, n);
	if (e)
		*st = e->was.st;
	pthread_mutex_unlock(&g->lock);
	return e;
}

void gone_renew(struct gone *g, const struct stat *st)
{
	struct entry *e;

	pthread_mutex_lock(&g->lock);
	e = find(g, st->st_ino);
	if (e)
		e->was.st = *st;
	pthread_mutex_unlock(&g->lock);
}

bool gone_lacks(struct gone *g, ino_t n, uint32_t what)
{
	const struct entry *e;
	bool is;

	pthread_mutex_lock(&g->lock);
	e = find(g, n);
	is = e && e->was.lacks & what;
	pthread_mutex_unlock(&g->lock);
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

static void set(struct stat *st, const struct setattr *how)
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

int gone_set(struct gone *g, ino_t n, uid_t uid, const struct setattr *how,
	     struct stat *st)
{
	struct entry *e;
	int rc = -ESTALE;

	pthread_mutex_lock(&g->lock);
	e = find(g, n);
	if (e)
		rc = may_set(&e->was.st, uid, how) ? 0 : -EPERM;
	if (!rc) {
		set(&e->was.st, how);
		*st = e->was.st;
	}
	pthread_mutex_unlock(&g->lock);
	return rc;
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
