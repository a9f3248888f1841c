/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * object_tree.h - the files of objects below objects/: a tree of two levels with 64 directories
 * each, chosen by a hash of the handle.  The layout is on disk: never change it without a new
 * store version.
 */
#ifndef OBJECT_TREE_H
#define OBJECT_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/dist/object_key.h"

#define OBJECT_PATH_FAN 64u /* directories per level */
#define OBJECT_PATH_LEAVES (OBJECT_PATH_FAN * OBJECT_PATH_FAN)
#define OBJECT_PATH_LEN (6 + OBJECT_KEY_LEN) /* "xx/yy/KEY" and NUL */
#define OBJECT_PATH_TOP 2 /* length of "xx" */
#define OBJECT_PATH_LEAF 5 /* length of "xx/yy" */

/* The number of the leaf directory, below OBJECT_PATH_LEAVES. */
unsigned int object_path_leaf(uint64_t handle);
void object_path_make(struct object_key key, char path[OBJECT_PATH_LEN]);

struct object_store;

/* Opens the file of an object for reading and writing.  Returns the descriptor, which the caller
 * closes, or -errno; -ENOENT: it does not exist and create is false. */
int object_tree_open(struct object_store *store, struct object_key key,
		     bool create);
/* Make the name of an object durable, or its removal.  Block on the disk. */
int object_tree_sync_name(struct object_store *store, struct object_key key);
int object_tree_sync_removal(struct object_store *store, struct object_key key);

#endif
