/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stage.h - a tree is copied by all nodes.  One process walks over it; copiers connect to it,
 * one a node and one on its own host, and get files as fast as they end them.
 *
 *	to a copier:	file N HASH|- FROM TO
 *	from it:	done|same N SIZE MTIME MODE HASH, fail N WHY, lacks WHAT, tick
 *
 * With a hash the target is right if it has it, without if both ends have the same.
 */
#ifndef JOB_STAGE_H
#define JOB_STAGE_H

#include <stdint.h>
#include <sys/stat.h>

#include "client/tools/job/parts/job.h"

/* What a file was, when it was copied. */
struct stage_file {
	uint64_t size, hash;
	int64_t mtime; /* ns */
	unsigned int mode;
};

static inline int64_t stage_mtime(const struct stat *st)
{
	return (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec;
}

/* manifest.c: of what was staged, a line a file; it is resumed from. */
struct manifest;

/* What is there from before is read.  0, or -errno. */
int manifest_open(const char *path, struct manifest **m);
/* What it says of name, if st is still the same; or NULL. */
const struct stage_file *manifest_find(const struct manifest *m,
				       const char *name, const struct stat *st);
void manifest_ok(struct manifest *m, const char *name,
		 const struct stage_file *f);
void manifest_missing(struct manifest *m, const char *name, const char *why);
/* It has its name from now on.  0, or -errno: it is not whole. */
int manifest_close(struct manifest *m);

/* hash.c: XXH3 of what is in the file.  0, or -errno. */
int stage_hash(const char *path, uint64_t *hash);

#endif
