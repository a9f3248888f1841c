/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * dent.h - directory entries in the order of the hashes of their names.  So the
 * position of an entry, and a reader's cookie, do not depend on other entries.
 */
#ifndef DENT_H
#define DENT_H

#include "mgr/db/store.h"

#define DENT_NAME_MAX 255u

struct dent {
	uint64_t handle;
	uint32_t mode; /* only the type bits */
};

/* Returns the keyed hash of a name: 63 bits, at least 3. */
uint64_t dent_name_hash(const struct store *st, const void *name, size_t len);

int dent_get(struct store *st, uint64_t dir, const char *name, size_t len,
	     struct dent *dent);
/* Inserts an entry. Returns 0, or -EEXIST if the name exists. */
int dent_insert(struct store *st, uint64_t dir, const char *name, size_t len,
		const struct dent *dent);
/* Inserts the entry, or overwrites the one with this name. */
int dent_put(struct store *st, uint64_t dir, const char *name, size_t len,
	     const struct dent *dent);
int dent_del(struct store *st, uint64_t dir, const char *name, size_t len);
/* Returns 1 if the directory has no entries, 0 if it has some, or an error. */
int dent_is_empty_dir(struct store *st, uint64_t dir);

/* Walks the entries whose hash is above cookie.  -ENOENT at the end. */
struct dent_cursor {
	struct store_cursor it;
	uint64_t dir;
	uint64_t hash; /* hash of the current entry */
	const char *name;
	size_t len;
	struct dent dent;
};
int dent_cursor_open(struct store *st, uint64_t dir, uint64_t cookie,
		     struct dent_cursor *it);
int dent_cursor_next(struct dent_cursor *it);
void dent_cursor_close(struct dent_cursor *it);

#endif
