/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * objpath.h - the path of an object below objects/: a tree of two levels with 64 directories
 * each, chosen by a hash of the handle.  The layout is on disk: never change it without a new
 * store version.
 */
#ifndef OBJPATH_H
#define OBJPATH_H

#include <stdint.h>

#define OBJPATH_FAN 64u /* directories per level */
#define OBJPATH_LEAVES (OBJPATH_FAN * OBJPATH_FAN)
#define OBJPATH_LEN 24 /* "xx/yy/hhhhhhhhhhhhhhhh" and NUL */
#define OBJPATH_TOP 2 /* length of "xx" */
#define OBJPATH_LEAF 5 /* length of "xx/yy" */

/* The number of the leaf directory, below OBJPATH_LEAVES. */
unsigned int objpath_leaf(uint64_t handle);
void objpath_make(uint64_t handle, char path[OBJPATH_LEN]);

#endif
