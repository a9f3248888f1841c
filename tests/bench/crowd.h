/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * crowd.h - many client processes of a file system, each of which opens a file,
 * reads a byte of it, and stays until the crowd leaves.
 */
#ifndef CROWD_H
#define CROWD_H

#include "tests/bench/pvfs_perf.h"

struct crowd;

/* NULL: no memory or descriptors, or no file to open, after a message. */
struct crowd *crowd_new(const struct perf_target *t);
/* Up to n clients, each when the one before was served.  0, or -1 after a message. */
int crowd_grow(struct crowd *c, unsigned int n);
/*
 * Starts n clients at the same moment.
 * @param secs	out: for each served client, the seconds until it was served, ascending
 * Returns how many were served within two minutes, or -1 if there are no n processes.
 */
int crowd_storm(struct crowd *c, unsigned int n, double *secs);
unsigned int crowd_size(const struct crowd *c);
/* Ends all clients; frees. */
void crowd_leave(struct crowd *c);

#endif
