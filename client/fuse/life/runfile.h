/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * runfile.h - files in which a daemon says something as long as it lives: in /run, or
 * where its user has such a place.  It holds a lock on each, which ends with it
 * however it ends; so one without a lock is of a daemon that was killed.
 */
#ifndef RUNFILE_H
#define RUNFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define RUNFILE_PATH 128u /* bytes */

struct runfile {
	char path[RUNFILE_PATH];
	int fd;
	void *page; /* shared; what stands there outlives the process */
	size_t size;
};

/* A new one, of zeros, NAME.XXXXXX.  0, or -errno. */
int runfile_make(struct runfile *r, const char *name, size_t size, mode_t mode);
/* Takes it away. */
void runfile_free(struct runfile *r);

/* Each of that name and size that a daemon of this user left: taken away if
 * done(arg, page) says so.  done NULL: all are. */
void runfile_left(const char *name, size_t size,
		  bool (*done)(void *arg, const void *page), void *arg);

#endif
