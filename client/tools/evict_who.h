/* SPDX-License-Identifier: BSD-2-Clause */
/* evict_who.h - whom pvfs-evict is told to evict. */
#ifndef EVICT_WHO_H
#define EVICT_WHO_H

#include <stdbool.h>

#include <pvfs.h>

struct evict_who {
	bool given;
	struct pvfs_evict what;
	char text[257]; /* of what */
};

/* By option s, u, J or H.  0, or -1: it names none, or others were given before. */
int evict_who(struct evict_who *who, int opt, const char *val);

#endif
