/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * named.h - which object each name stands for, and its attributes, as the kernel last
 * got them.  Before the kernel removes a name, it looks the name up, or did so a moment
 * ago.  So when the last name of an object is removed, the daemon knows the object
 * (gone.h) without a request.
 */
#ifndef NAMED_H
#define NAMED_H

#include <stdbool.h>
#include <stdint.h>

#include "client/fuse/cache/gone.h"

struct named;

struct named *named_new(void); /* NULL: no memory */
void named_free(struct named *n);

/* Returns a number for a name in the directory with this handle; never 0. */
uint64_t named_of(uint64_t dir, const char *name);

/* Records a reply to the kernel: the object's attributes, by st_ino, */
void named_told(struct named *n, const struct stat *st);
/* ... what the object lacks, of LACKS (lacks.h), */
void named_lacks(struct named *n, uint64_t handle, uint32_t what);
/* ... and the object of a name.  name: from named_of(); 0: none. */
void named_entry(struct named *n, uint64_t name, uint64_t handle);

/* True: the name's object and its attributes are known. */
bool named_is(struct named *n, uint64_t name);
/* Returns the handle of the name's object; 0: unknown. */
uint64_t named_handle(struct named *n, uint64_t name);

/*
 * Called before the reply to a removal: records the name's object in g, unless the
 * object has another name.
 */
void named_removed(struct named *n, uint64_t name, struct gone *g);
/*
 * The manager no longer knows the object, because another host removed it.  Records it
 * in g with the attributes that the kernel last got, if they are known.
 */
void named_lost(struct named *n, uint64_t handle, struct gone *g);
/*
 * Called before the reply to a rename.  swaps: the names changed places, and none was
 * removed.
 */
void named_moved(struct named *n, uint64_t from, uint64_t to, bool swaps,
		 struct gone *g);

#endif
