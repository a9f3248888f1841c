/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * versions.h - the version of a file whose pages the kernel keeps.  Pages are kept only
 * for a version that is known here.  The kernel reads the file again if the file is not
 * known, or changed so recently that another change might have the same time.
 */
#ifndef VERSIONS_H
#define VERSIONS_H

#include <stdbool.h>
#include <sys/stat.h>

struct versions;

struct versions *versions_new(void);
void versions_free(struct versions *v);

/*
 * Records the state in which the file is opened.  True: the same as at the previous
 * open.
 */
bool versions_same(struct versions *v, const struct stat *st);

#endif
