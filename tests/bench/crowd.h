/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * crowd.h - many client processes of a file system.  Each opens a file, reads a byte of it, and
 * stays until crowd_leave().
 */
#ifndef CROWD_H
#define CROWD_H

#include "tests/bench/pvfs_perf.h"

struct crowd;

/* Returns NULL after a message: there is no memory, no descriptor, or no file to open. */
struct crowd *crowd_new(const struct perf_target *t);
/*
 * Starts clients until there are n, each when the previous one was served.  Returns 0, or -1 after
 * a message.
 */
int crowd_grow(struct crowd *c, unsigned int n);
/*
 * Starts n clients at the same moment.
 * @param secs	out: for each served client, the seconds until it was served, ascending
 * Returns how many were served within two minutes, or -1 if there are no n processes.
 */
int crowd_storm(struct crowd *c, unsigned int n, double *secs);
unsigned int crowd_size(const struct crowd *c);
/* Ends all clients and frees c. */
void crowd_leave(struct crowd *c);

#endif
