/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * counter_page.h - the page with the counters of one file, on the disk and mapped.
 *
 * The caller owns struct counter_map and serialises the calls.  Errors are -errno; nothing is
 * logged here.
 */
#ifndef COUNTER_PAGE_H
#define COUNTER_PAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/wire/wire.h"

#define COUNTER_CEILING_STEPS                                                  \
	64u /* a ceiling is as many changes above the value, ... */
#define COUNTER_CEILING_MIN 1024u /* ... and at least as much */
#define COUNTER_MAGIC UINT64_C(0x315458544e554f43) /* "COUNTXT1" */

/* A value of boot that no host has: a flush failed, and the disk may lack the ceilings. */
#define COUNTER_UNSURE 0

/* The used part lies in one sector, so a crash leaves all of a change or nothing. */
struct counter_page {
	uint64_t magic;
	uint64_t boot; /* id of the boot in which the values were written */
	struct {
		int64_t value;
		int64_t ceiling; /* on the disk; no value above it was given out */
	} slot[WIRE_COUNTERS];
	uint64_t lent; /* bits: this value is elsewhere, below its ceiling */
};
_Static_assert(sizeof(struct counter_page) <= 512, "one sector");

struct counter_map {
	int fd;
	struct counter_page *page; /* NULL: not mapped */
	uint64_t boot; /* id of the current boot */
};

/*
 * Maps the page of a file, which is created if it does not exist and create is set.  boot: id of
 * the current boot.  durable: the page is also on the disk.  -ENOENT: it does not exist;
 * -EUCLEAN: the file is not a page of counters; -errno.
 */
int counter_page_map(int dirfd, uint64_t handle, bool create, uint64_t boot,
		     bool durable, struct counter_map *map);
void counter_page_unmap(struct counter_map *map);
/* Writes the page to the disk. */
int counter_page_flush(const struct counter_map *map);
/* Removes the page's name; a name that does not exist is no error. */
int counter_page_unlink(int dirfd, uint64_t handle);

/* The ceiling for a counter with this value to which step is added repeatedly. */
int64_t counter_page_ceiling(int64_t value, int64_t step);
/*
 * Sets a ceiling and writes it to the disk before it counts.  After an error the ceiling on the
 * disk is unknown, so the page has the boot id COUNTER_UNSURE.
 */
int counter_page_set_ceiling(struct counter_map *map, unsigned int number,
			     int64_t ceiling);

#endif
