/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * runfile.h - files in which a daemon publishes data while it runs: in /run for root, in
 * XDG_RUNTIME_DIR for other users, or else in /tmp.  The daemon holds a lock on each
 * file, which ends with the daemon in any case.  So a file without a lock belongs to a
 * killed daemon.
 */
#ifndef RUNFILE_H
#define RUNFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define RUNFILE_PATH 128u /* bytes of a path */

struct runfile {
	char path[RUNFILE_PATH];
	int fd;
	void *page; /* shared mapping; the data survives the process */
	size_t size;
};

/*
 * Creates a file NAME.XXXXXX of size bytes, filled with zeros, maps it and locks it.  Returns 0,
 * or -errno: then there is no file.
 */
int runfile_make(struct runfile *r, const char *name, size_t size, mode_t mode);
/* Removes the file. */
void runfile_free(struct runfile *r);

/*
 * Calls done(arg, page) for each file of that name and size that remained from a killed daemon of
 * this user, and removes the file if done() returns true.  done NULL: removes all these files.
 */
void runfile_visit_stale(const char *name, size_t size,
			 bool (*done)(void *arg, const void *page), void *arg);

#endif
