/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * named.h - what names stand for, and how that is, as the kernel was last told.  Before
 * it removes a name it looks it up, or has done so a moment ago; so when the last
 * name of an object goes it is known here what went with it (gone.h), and nobody
 * need be asked.
 */
#ifndef NAMED_H
#define NAMED_H

#include <stdbool.h>
#include <stdint.h>

#include "client/fuse/kept/gone.h"

struct named;

struct named *named_new(void); /* NULL: no memory */
void named_free(struct named *n);

/* A number for a name in the directory of this handle; never 0. */
uint64_t named_of(uint64_t dir, const char *name);

/* The kernel is told: what an object is like, by st_ino, */
void named_told(struct named *n, const struct stat *st);
/* ... what it lacks, of LACKS (lacks.h), */
void named_lacks(struct named *n, uint64_t handle, uint32_t what);
/* ... and what a name stands for.  name: of named_of(), 0: none. */
void named_entry(struct named *n, uint64_t name, uint64_t handle);

/* It is known what the name stands for, and how that is. */
bool named_is(struct named *n, uint64_t name);

/* Before it hears that a name was removed: what it stood for goes to g, unless that is
 * known to have another. */
void named_removed(struct named *n, uint64_t name, struct gone *g);
/* The mgr knows nothing of the object any more: another host removed it.  It goes to g as the
 * kernel was last told of it, if that is known. */
void named_lost(struct named *n, uint64_t handle, struct gone *g);
/* Before it hears of a rename.  swaps: the two changed places, and none was removed. */
void named_moved(struct named *n, uint64_t from, uint64_t to, bool swaps,
		 struct gone *g);

#endif
