/* SPDX-License-Identifier: BSD-2-Clause */
/* copy_dirs.h - directories that get their attributes later. */
#ifndef COPY_DIRS_H
#define COPY_DIRS_H

#include "client/tools/files/copy/copy.h"

struct copy_dirs {
	struct copy_dir {
		char *from, *path;
		struct stat st;
	} * v;
	size_t n, cap;
};

/* 0 or -ENOMEM. */
int copy_dirs_add(struct copy_dirs *dirs, const char *from, const char *path,
		  const struct stat *st);
/* Sets the attributes, deepest first, and frees the list. */
void copy_dirs_finish(struct copy *c, struct copy_dirs *dirs);

/*
 * Finds everything to copy below from, which becomes `to`.  place: of the directory of
 * `to`, or NULL if that gets no other name.
 */
void copy_walk(struct copy *c, struct copy_dirs *dirs, const char *from,
	       const char *to, struct copy_place *place);

#endif
