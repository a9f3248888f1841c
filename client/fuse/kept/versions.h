/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * versions.h - which state of a file the pages are of that the kernel keeps of it.
 * Only what is known here is kept: a file that is not, or that changed so shortly
 * before that another change might have the same time, is read anew.
 */
#ifndef VERSIONS_H
#define VERSIONS_H

#include <stdbool.h>
#include <sys/stat.h>

struct versions;

struct versions *versions_new(void);
void versions_free(struct versions *v);

/* The file is opened in this state.  True: as it was at the open before. */
bool versions_same(struct versions *v, const struct stat *st);

#endif
