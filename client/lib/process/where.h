/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * where.h - where a path of the caller leads: to a mount, or to an ordinary
 * file.  A server that finds that a path leaves its file system (a symlink,
 * or "..") says where to, and the walk goes on there.
 */
#ifndef WHERE_H
#define WHERE_H

#include "client/lib/file/file.h"

#define WHERE_ORDINARY 1 /* result: make the ordinary call with path */

struct where {
	struct fs *fs; /* NULL: ordinary */
	uint64_t base; /* handle of the directory that path begins at; 0: the root */
	int at; /* ordinary: its descriptor, or AT_FDCWD */
	const char *path; /* below base, or ordinary */
	unsigned int hops;
	bool counted; /* by who asked, see profile.h */
	char buf[PATH_MAX];
	char redirect[PATH_MAX]; /* target.redirect */
};

/* A call begins: see deadline.h. */
void where_find(struct where *w, const char *path);
/* The same for a path that may be relative to a directory's descriptor, as with openat(2). */
void where_find_at(struct where *w, int dir, const char *path);

/*
 * Runs op on the path, again after redirections and, once, when the session
 * turned out to have ended.  0, WHERE_ORDINARY, or -errno.  flags: WIRE_P_*.
 */
int where_run(struct where *w, const char *path, uint32_t flags, target_op op,
	      void *arg);
int where_run_at(struct where *w, int dir, const char *path, uint32_t flags,
		 target_op op, void *arg);
/* The same after where_find() or where_find_at(). */
int where_follow(struct where *w, uint32_t flags, target_op op, void *arg);

/*
 * Runs op on two paths that were found.  -EXDEV: they are not on one mount.
 * WHERE_ORDINARY: both are ordinary.
 */
typedef int (*pair_op)(struct session *s, const struct target *a,
		       const struct target *b, unsigned int *which);
int where_follow_pair(struct where *a, struct where *b, pair_op op);

#endif
