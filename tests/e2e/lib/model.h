/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * model.h - random calls on two folders at once, one on PVFS and one ordinary. The results on the
 * ordinary folder are the expected ones.
 */
#ifndef MODEL_H
#define MODEL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <pvfs.h>

#define PAIRS 8
#define FILE_MAX (600 * 1024)

/* A is on PVFS, B is ordinary. */
enum side { A, B, SIDES };

struct pair {
	int fd[SIDES];
	int flags;
	bool used;
	bool shared; /* was duplicated by dup() */
	bool parted; /* had a partition */
};

struct model {
	unsigned int seed, step;
	const char *dir[SIDES];
	struct pair pair[PAIRS];
	char what[512]; /* the current call */
	int at; /* the index of its pair, or -1 */
	/* in the ordinary folder: whether it supports extended attributes */
	enum { UNKNOWN, THERE, NOWHERE } xattrs;
	char *buf[SIDES]; /* FILE_MAX bytes each */
	char path[SIDES][2][512];
};

uint32_t roll(struct model *m, uint32_t below);
bool chance(struct model *m, uint32_t percent);
/* Describes the call, for the message if the results differ. */
void what(struct model *m, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Checks that both sides have the same result and, if both failed, the same errno. */
void same(struct model *m, const int64_t rc[SIDES], const int err[SIDES]);
void same_bytes(struct model *m, int64_t n);
void differ(struct model *m, const char *fmt, ...)
	__attribute__((noreturn, format(printf, 2, 3)));

/* Chooses a name in the folders, and stores its paths in m->path[side][slot]. */
const char *any_path(struct model *m, int slot);
/*
 * Returns a random mode below max. It mostly includes the bits `owner`, so that later calls can
 * succeed.
 */
mode_t any_mode(struct model *m, uint32_t max, mode_t owner);
/* Returns a random open pair, or NULL. */
struct pair *any_pair(struct model *m);

void same_stat(struct model *m, const struct stat st[SIDES]);

/* Each makes one random call on both sides. */
void op_file(struct model *m); /* model_file.c: on descriptors */
void op_name(struct model *m); /* model_name.c: on paths */
void op_xattr(struct model *m); /* model_xattr.c */

#define UNTOUCHED 4096 /* not a value of errno */

/*
 * Evaluates an expression on both sides; s is the side. On PVFS, a successful call must not change
 * errno.
 */
#define BOTH(m, expr)                                                          \
	do {                                                                   \
		int64_t rc_[SIDES];                                            \
		int err_[SIDES];                                               \
                                                                               \
		for (int s = A; s < SIDES; s++) {                              \
			errno = UNTOUCHED;                                     \
			rc_[s] = (expr);                                       \
			if (s == A && rc_[s] >= 0 && errno != UNTOUCHED)       \
				differ(m, "success with errno %d", errno);     \
			err_[s] = rc_[s] < 0 ? errno : 0;                      \
		}                                                              \
		same(m, rc_, err_);                                            \
	} while (0)

#endif
