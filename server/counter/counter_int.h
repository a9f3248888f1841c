/* SPDX-License-Identifier: BSD-2-Clause */
/* counter_int.h - the page of a file's counters, as it is on the disk. */
#ifndef COUNTER_INT_H
#define COUNTER_INT_H

#include "counter.h"
#include "wire.h"

#define COUNTER_MAGIC UINT64_C(0x315458544e554f43) /* "COUNTXT1" */

/* No life of the host: a flush failed, and the ceilings may not be on the disk. */
#define COUNTER_UNSURE 0

/* What counts is in one sector: it is there, or not. */
struct counter_page {
	uint64_t magic;
	uint64_t boot; /* which life of the host wrote value */
	struct {
		int64_t value;
		int64_t ceiling; /* no value above it was given; on the disk */
	} slot[WIRE_COUNTERS];
};
_Static_assert(sizeof(struct counter_page) <= 512, "one sector");

struct counter_map {
	int fd;
	struct counter_page *page;
};

/*
 * Maps the page of that file, made if it is not there and create says so.  boot: this
 * life of the host.  durable: as it is now it is on the disk as well.  -ENOENT: it is not there;
 * -EUCLEAN: that is no page of counters; -errno.
 */
int counter_map(int dirfd, uint64_t handle, bool create, uint64_t boot,
		bool durable, struct counter_map *map);
void counter_unmap(struct counter_map *map);
int counter_flush(const struct counter_map *map);
/* Its name goes. */
int counter_unlink(int dirfd, uint64_t handle);

#endif
