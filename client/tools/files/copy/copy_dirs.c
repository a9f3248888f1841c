/* SPDX-License-Identifier: BSD-2-Clause */
/* copy_dirs.c - directories that get their attributes later. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/tools/files/copy/copy_dirs.h"

static int make_room(struct copy_dirs *dirs)
{
	size_t cap = dirs->cap ? 2 * dirs->cap : 64;
	struct copy_dir *v;

	if (dirs->n < dirs->cap)
		return 0;
	v = realloc(dirs->v, cap * sizeof(*v));
	if (!v)
		return -ENOMEM;
	dirs->v = v;
	dirs->cap = cap;
	return 0;
}

int copy_dirs_add(struct copy_dirs *dirs, const char *from, const char *path,
		  const struct stat *st)
{
	struct copy_dir d = { .st = *st };

	if (make_room(dirs))
		return -ENOMEM;
	d.from = strdup(from);
	d.path = strdup(path);
	if (d.from && d.path) {
		dirs->v[dirs->n++] = d;
		return 0;
	}
	free(d.from);
	free(d.path);
	return -ENOMEM;
}

void copy_dirs_finish(struct copy *c, struct copy_dirs *dirs)
{
	while (dirs->n) {
		struct copy_dir *d = &dirs->v[--dirs->n];

		if (!copy_over(c) && copy_attrs(c, d->from, d->path, &d->st))
			copy_failed(c, d->path);
		free(d->from);
		free(d->path);
	}
	free(dirs->v);
	dirs->v = NULL;
	dirs->cap = 0;
}
