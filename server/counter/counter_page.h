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

#include "common/dist/object_key.h"
#include "common/wire/wire.h"

#define COUNTER_CEILING_STEPS                                                  \
	64u /* a new ceiling leaves room for so many changes above the value, */
#define COUNTER_CEILING_MIN 1024u /* and for at least this sum of changes */
#define COUNTER_MAGIC UINT64_C(0x315458544e554f43) /* "COUNTXT1" */

/*
 * A value of counter_page.boot that no boot has: a flush failed, and the ceilings may not be on
 * the disk.
 */
#define COUNTER_UNSURE 0

/* The used part lies in one sector, so a crash leaves all of a change or nothing. */
struct counter_page {
	uint64_t magic;
	uint64_t boot; /* id of the boot in which the values were written */
	struct {
		int64_t value;
		int64_t ceiling; /* on the disk; no value above it was returned */
	} slot[WIRE_COUNTERS];
	uint64_t lent; /* bit N: counter N is lent; its value is elsewhere, below its ceiling */
};
_Static_assert(sizeof(struct counter_page) <= 512, "one sector");

struct counter_map {
	int fd;
	struct counter_page *page; /* NULL: not mapped */
	uint64_t boot; /* id of the current boot */
};

/*
 * Maps the page of the object `key` in the folder dirfd.  create: makes the page if it does not
 * exist.  boot: id of the current boot.  durable: a page that is made is on the disk when this
 * returns.  After 0 *map owns a descriptor and the mapping.  -ENOENT: there is no page, and
 * create is false.  -EUCLEAN: the file is not a page of counters.  Other -errno are those of the
 * disk.
 */
int counter_page_map(int dirfd, struct object_key key, bool create,
		     uint64_t boot, bool durable, struct counter_map *map);
void counter_page_unmap(struct counter_map *map);
/* Writes the page to the disk. */
int counter_page_flush(const struct counter_map *map);
/* Removes the page's name; a name that does not exist is no error. */
int counter_page_unlink(int dirfd, struct object_key key);

/* The ceiling for a counter with this value to which step is added repeatedly. */
int64_t counter_page_ceiling(int64_t value, int64_t step);
/*
 * Sets the ceiling of counter `number`, and returns 0 when it is on the disk.  After an error
 * (-errno of the disk) the ceiling on the disk is unknown, so the page gets the boot id
 * COUNTER_UNSURE.
 */
int counter_page_set_ceiling(struct counter_map *map, unsigned int number,
			     int64_t ceiling);

#endif
