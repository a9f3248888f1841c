/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * where.h - where a path leads: to a mount, or to an ordinary file.  If a server finds
 * that a path leaves its file system (a symlink, or ".."), it returns the target, and the
 * lookup continues there.
 */
#ifndef WHERE_H
#define WHERE_H

#include "client/lib/file/file.h"

#define WHERE_ORDINARY 1 /* result: make the ordinary call with path */

struct where {
	struct fs *fs; /* NULL: ordinary */
	/* handle of the directory where path starts; 0: the root */
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
/*
 * The same for a path that may be relative to the descriptor of a directory, as in
 * openat(2).
 */
void where_find_at(struct where *w, int dir, const char *path);

/*
 * Runs op on the path, again after each redirection, and at most twice more if the
 * session has ended (fs_run()).  Returns 0, WHERE_ORDINARY or -errno.  flags: WIRE_P_*.
 */
int where_run(struct where *w, const char *path, uint32_t flags, target_op op,
	      void *arg);
int where_run_at(struct where *w, int dir, const char *path, uint32_t flags,
		 target_op op, void *arg);
/* The same after where_find() or where_find_at(). */
int where_follow(struct where *w, uint32_t flags, target_op op, void *arg);

/*
 * Runs op on two paths, after where_find().  -EXDEV: they are not on one mount.
 * WHERE_ORDINARY: both are ordinary.
 */
typedef int (*pair_op)(struct session *s, const struct target *a,
		       const struct target *b, unsigned int *which);
int where_follow_pair(struct where *a, struct where *b, pair_op op);

#endif
