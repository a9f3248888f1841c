/* SPDX-License-Identifier: BSD-2-Clause */
/* evict_who.h - the sessions that the options of pvfs-evict select. */
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
 * Parses the option opt (s, u, J or H) with the value val into *who.  Returns 0, or -1: val is
 * invalid, or *who already has another option.
 */
int evict_who(struct evict_who *who, int opt, const char *val);

#endif
