/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * where.h - finds whether a path leads to a mount or to an ordinary file.  If a symlink or ".."
 * leads out of the file system, the server returns the target, and the client continues the
 * lookup there.
 */
#ifndef WHERE_H
#define WHERE_H

#include "client/lib/file/file.h"

#define WHERE_ORDINARY 1 /* result: make the ordinary call with path */

struct where {
	struct fs *fs; /* NULL: ordinary */
	/* the lookup of path starts at the directory with this handle; 0: the root */
	uint64_t base;
	uint64_t fsid; /* file system of base, or 0 */
	int at; /* ordinary paths: the directory's descriptor, or AT_FDCWD */
	const char *path; /* relative to base, or ordinary */
	unsigned int hops;
	bool counted; /* the caller counts the call, see profile.h */
	char buf[PATH_MAX];
	char redirect[PATH_MAX]; /* target.redirect */
};

/* Starts the deadline of a call: see call_context.h. */
void where_find(struct where *w, const char *path);
/* where_find() of a path that, if relative, starts at the directory that dir has open. */
void where_find_at(struct where *w, int dir, const char *path);

/*
 * Runs op on the path (where_run_at(): which may start at dir).  If the server redirects the
 * path, runs op on the target.  If the session has ended, repeats op as fs_run().  flags:
 * WIRE_P_*.  Returns 0; WHERE_ORDINARY: the caller makes the ordinary call; or -errno.
 */
int where_run(struct where *w, const char *path, uint32_t flags, target_op op,
	      void *arg);
int where_run_at(struct where *w, int dir, const char *path, uint32_t flags,
		 target_op op, void *arg);
/* where_run() for the path in w, which where_find() or where_find_at() has set. */
int where_follow(struct where *w, uint32_t flags, target_op op, void *arg);

/*
 * Runs op on the two paths of a and b, which where_find() has set.  Returns the result of op;
 * -EXDEV: the paths are on different mounts, or only one is on PVFS; WHERE_ORDINARY: neither is
 * on PVFS.
 */
typedef int (*pair_op)(struct session *s, const struct target *a,
		       const struct target *b, unsigned int *which);
int where_follow_pair(struct where *a, struct where *b, pair_op op);

#endif
