/* SPDX-License-Identifier: BSD-2-Clause */
/* pass.c - one pass over everything, and what two of them agree on. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/util/clock.h"
#include "mgr/fsck/fsck.h"

#define CMP(a, b)                                                              \
	do {                                                                   \
		if ((a) != (b))                                                \
			return (a) < (b) ? -1 : 1;                             \
	} while (0)

static int compare(const void *va, const void *vb)
{
	const struct problem *a = va, *b = vb;

	CMP(a->kind, b->kind);
	CMP(a->handle, b->handle);
	CMP(a->dir, b->dir);
	CMP(a->iod, b->iod);
	CMP(a->found, b->found);
	CMP(a->stored, b->stored);
	return strcmp(a->name, b->name);
}

int fsck_found(struct fsck *f, const struct problem *p)
{
	struct problems *all = &f->found;
	int rc = fsck_grow(&all->p, &all->room, all->n, sizeof(*p));

	if (!rc)
		all->p[all->n++] = *p;
	return rc;
}

/* Each once: a nameless file may have many objects. */
static void sort(struct problems *all)
{
	size_t n = 0;

	if (all->n)
		qsort(all->p, all->n, sizeof(all->p[0]), compare);
	for (size_t i = 0; i < all->n; i++)
		if (!n || compare(&all->p[n - 1], &all->p[i]))
			all->p[n++] = all->p[i];
	all->n = n;
}

static int pass(struct fsck *f)
{
	struct objects list = { 0 };
	int rc;

	f->started = clock_wall();
	f->found.n = 0;
	rc = objects_list(f, &list);
	if (!rc)
		rc = names_read(f);
	if (!rc)
		rc = names_judge(f);
	if (!rc)
		rc = objects_judge(f, &list);
	names_forget(f);
	free(list.o);
	sort(&f->found);
	return rc;
}

/* Those of *all that this pass has found again. */
static void keep_common(const struct fsck *f, struct problems *all)
{
	size_t n = 0;

	for (size_t i = 0; i < all->n; i++)
		if (f->found.n && bsearch(&all->p[i], f->found.p, f->found.n,
					  sizeof(all->p[0]), compare))
			all->p[n++] = all->p[i];
	all->n = n;
}

int fsck_check(struct fsck *f, unsigned int settle_ms, struct problems *all)
{
	struct timespec settle = { settle_ms / 1000,
				   (long)(settle_ms % 1000) * 1000000 };
	int rc = pass(f);

	*all = f->found;
	f->found = (struct problems){ 0 };
	if (rc || !all->n)
		return rc;
	nanosleep(&settle, NULL);
	rc = pass(f);
	keep_common(f, all);
	return rc;
}
