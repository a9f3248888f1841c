/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * versions.c - a table with one place per file; files with the same place replace each
 * other.
 */
#include "client/fuse/cache/versions.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#include "common/util/clock.h"
#include "client/lib/names/stat.h"

#define PLACES 65536u
#define RACY_NS 2000000000 /* clocks are coarse, and differ between hosts */

struct version {
	uint64_t handle, size;
	int64_t mtime, ctime;
};

struct versions {
	pthread_mutex_t lock;
	struct version place[PLACES];
};

struct versions *versions_new(void)
{
	struct versions *v = calloc(1, sizeof(*v));

	if (v)
		pthread_mutex_init(&v->lock, NULL);
	return v;
}

void versions_free(struct versions *v)
{
	if (!v)
		return;
	pthread_mutex_destroy(&v->lock);
	free(v);
}

static bool same(const struct version *a, const struct version *b)
{
	return a->handle == b->handle && a->size == b->size &&
	       a->mtime == b->mtime && a->ctime == b->ctime;
}

bool versions_same(struct versions *v, const struct stat *st)
{
	const struct version now = { .handle = st->st_ino,
				     .size = (uint64_t)st->st_size,
				     .mtime = stat_ns(&st->st_mtim),
				     .ctime = stat_ns(&st->st_ctim) };
	struct version *p = &v->place[now.handle % PLACES];
	bool is;

	pthread_mutex_lock(&v->lock);
	is = same(p, &now);
	*p = now;
	if (clock_wall() - now.ctime < RACY_NS)
		p->handle = 0;
	pthread_mutex_unlock(&v->lock);
	return is;
}
