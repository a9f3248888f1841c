/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * model.h - random calls on two folders at once: one on PVFS, one ordinary.
 * Whatever the ordinary one answers is right.
 */
#ifndef MODEL_H
#define MODEL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <pvfs.h>

#define PAIRS 8
#define FILE_MAX (600 * 1024)

/* A: PVFS; B: the ordinary folder. */
enum side { A, B, SIDES };

struct pair {
	int fd[SIDES];
	int flags;
	bool used;
	bool shared; /* has been dup'ed */
	bool parted; /* has had a partition */
};

struct model {
	unsigned int seed, step;
	const char *dir[SIDES];
	struct pair pair[PAIRS];
	char what[512]; /* the call at hand */
	int at; /* ... and its pair, or -1 */
	enum { UNKNOWN, THERE, NOWHERE } xattrs; /* in the ordinary folder */
	char *buf[SIDES]; /* FILE_MAX each */
	char path[SIDES][2][512];
};

uint32_t roll(struct model *m, uint32_t below);
bool chance(struct model *m, uint32_t percent);
/* Describes the call, for the message if it differs. */
void what(struct model *m, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* The same result and, if both failed, the same errno. */
void same(struct model *m, const int64_t rc[SIDES], const int err[SIDES]);
void same_bytes(struct model *m, int64_t n);
void differ(struct model *m, const char *fmt, ...)
	__attribute__((noreturn, format(printf, 2, 3)));

/* Chooses a name below the folders, into m->path[side][slot]. */
const char *any_path(struct model *m, int slot);
/* Below max; mostly with the owner's bits, or nothing would go on. */
mode_t any_mode(struct model *m, uint32_t max, mode_t owner);
/* An open pair, or NULL. */
struct pair *any_pair(struct model *m);

void same_stat(struct model *m, const struct stat st[SIDES]);

/* One random call each. */
void op_file(struct model *m); /* model_file.c: on descriptors */
void op_name(struct model *m); /* model_name.c: on paths */
void op_xattr(struct model *m); /* model_xattr.c */

#define UNTOUCHED 4096 /* no errno */

/* Runs an expression on both sides: s is the side.  On PVFS a success leaves
 * errno as it was. */
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
