/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stage.h - copies a tree with all nodes.  One process walks over the tree.  Copiers connect to it,
 * one per node and one on its own host, and get files as fast as they finish them.
 *
 * 	to a copier:	file N HASH|- FROM TO
 * 	from it:	done|same N SIZE MTIME MODE HASH, fail N WHY, lacks WHAT, tick
 *
 * If a file line has a HASH, the copy is correct if the target has this hash.  If it has -, the
 * copy is correct if source and target have the same hash.
 */
#ifndef JOB_STAGE_H
#define JOB_STAGE_H

#include <stdint.h>
#include <sys/stat.h>

#include "client/tools/job/parts/job.h"

/* A file as it was when it was copied. */
struct stage_file {
	uint64_t size, hash;
	int64_t mtime; /* ns */
	unsigned int mode;
};

static inline int64_t stage_mtime(const struct stat *st)
{
	return (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec;
}

/* manifest.c: the staged files, one line per file.  A later staging resumes from it. */
struct manifest;

/* Reads what an earlier staging left.  0 or -errno. */
int manifest_open(const char *path, struct manifest **m);
/* Returns the entry of name, if st has the same size and mtime; or NULL. */
const struct stage_file *manifest_find(const struct manifest *m,
				       const char *name, const struct stat *st);
void manifest_ok(struct manifest *m, const char *name,
		 const struct stage_file *f);
void manifest_missing(struct manifest *m, const char *name, const char *why);
/* Gives the manifest its name.  0, or -errno: it is incomplete. */
int manifest_close(struct manifest *m);

/* hash.c: gets the XXH3 checksum of the file.  0 or -errno. */
int stage_hash(const char *path, uint64_t *hash);

#endif
