/* SPDX-License-Identifier: BSD-2-Clause */
/* counter_int.h - the page of a file's counters, as it is on the disk. */
#ifndef COUNTER_INT_H
#define COUNTER_INT_H

#include <pthread.h>
#include <sys/queue.h>

#include "server/counter/counter.h"
#include "common/util/hash_table.h"
#include "common/transport/transport.h"
#include "common/wire/wire.h"

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
	uint64_t lent; /* bits: these values are elsewhere, below their ceilings */
};
_Static_assert(sizeof(struct counter_page) <= 512, "one sector");

struct counter_map {
	int fd;
	struct counter_page *page;
};

/* A counter that clients change by RDMA atomics. */
struct counter_lent {
	uint64_t *word; /* its value; NULL: it is not lent */
	struct tp_mr *mr;
	uint64_t again; /* not before, clock_now() */
	unsigned int taken; /* times that it was taken back */
};

struct counter_file {
	uint64_t handle;
	UT_hash_handle hh;
	unsigned int users; /* this and the next: the table's lock */
	bool removed; /* not in the table */
	TAILQ_ENTRY(counter_file) idle; /* users is 0 */
	pthread_mutex_t lock; /* of the rest */
	struct counter_map map; /* page NULL: not mapped */
	struct counter_lent lent[WIRE_COUNTERS];
};

/* counter.c: with the file's lock */
int64_t counter_above(int64_t value, int64_t add);
/*
 * The ceiling is on the disk before it counts.  After an error nobody knows which one the
 * disk has, so it is of no life that we know.
 */
int counter_raise(const struct counters *counters, struct counter_file *f,
		  unsigned int number, int64_t ceiling);

/*
 * counter_lent.c: with the file's lock.  While a counter is lent the device alone
 * changes it: its atomics know nothing of the processor's.
 */
static inline bool lent_is(const struct counter_file *f, unsigned int number)
{
	return f->lent[number].word;
}
/* As it is now; it only grows. */
int64_t lent_value(const struct counter_file *f, unsigned int number);
/* For who reads it by message: it stays where it is.  As counter_change(). */
int lent_read(const struct counters *counters, struct counter_file *f,
	      unsigned int number, bool quick, int64_t *value);
/* Its value is in the page again, and no device touches it. */
void lent_take_back(struct counter_file *f, unsigned int number);
void lent_take_all(struct counter_file *f);
int lent_place(const struct counters *counters, struct counter_file *f,
	       const struct counter_wish *wish, struct counter_place *place);

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
