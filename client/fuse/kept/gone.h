/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gone.h - directories that were removed here, and that the kernel still has: as
 * somebody's working directory, or open.  The mgr knows nothing of them any more; they
 * are what they were then, empty and without a name.
 */
#ifndef GONE_H
#define GONE_H

#include <stdbool.h>
#include <sys/stat.h>

#define GONE_MAX 65536u /* beyond that they are ESTALE */

struct gone;

struct gone *gone_new(void); /* NULL: no memory */
void gone_free(struct gone *g);

/* Before the kernel hears that it was removed, so before it forgets it. */
void gone_note(struct gone *g, const struct stat *st);
/* n: st_ino.  False: it is none of them. */
bool gone_is(struct gone *g, ino_t n, struct stat *st);
/* The kernel has forgotten it. */
void gone_forget(struct gone *g, ino_t n);

#endif
