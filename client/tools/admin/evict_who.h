/* SPDX-License-Identifier: BSD-2-Clause */
/* evict_who.h - the sessions that pvfs-evict is told to evict. */
#ifndef EVICT_WHO_H
#define EVICT_WHO_H

#include <stdbool.h>

#include <pvfs.h>

struct evict_who {
	bool given;
	struct pvfs_evict what;
	char text[257]; /* memory of what.text */
};

/*
 * Parses option s, u, J or H.  0, or -1: val names nothing, or another option was
 * given.
 */
int evict_who(struct evict_who *who, int opt, const char *val);

#endif
