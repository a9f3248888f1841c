/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * counter.h - counters of files.  Each object that has counters has a page with them, in
 * DIR/counters/KEY (object_key.h).
 *
 * The page is mapped, so a change is a store in memory, and a crash of this process loses
 * nothing.  For a crash of the host, the disk holds a ceiling for each counter, a number that no
 * returned value exceeds.  If the page is from an earlier boot, its counters continue at their
 * ceilings.  So no value is returned twice; some values are skipped.
 *
 * All functions except counters_open() and counters_close() may be called from any thread.
 */
#ifndef COUNTER_H
#define COUNTER_H

#include <stdbool.h>
#include <stdint.h>

#include "common/dist/object_key.h"
#include "common/util/log.h"

#define COUNTERS_MAPPED                                                        \
	256u /* pages that stay mapped while they are not in use */

struct counters;
struct tp_dev;

struct counters_attr {
	const char *dir; /* of the store */
	bool in_memory; /* the store ends with the host, so ceilings are not needed */
	const struct log *log; /* outlives the counters */
};
/* -errno; the cause and the remedy are logged. */
int counters_open(const struct counters_attr *attr, struct counters **counters);
/*
 * Writes the values, so that after the next counters_open() the counters continue without a gap.
 * NULL: nothing happens.
 */
void counters_close(struct counters *counters);

struct counter_change {
	struct object_key key;
	unsigned int number; /* below WIRE_COUNTERS */
	bool set; /* set the counter to value; otherwise add value */
	int64_t value;
	/*
	 * Of a counter that other iods store as well: called before the limit of the values is
	 * raised, so that they know it first.  An error ends the change.  Then the limit is also
	 * needed in a store in memory.  NULL: no other iod has the counter.
	 */
	int (*raise)(const struct counter_change *c, int64_t limit);
	void *arg;
};
static inline bool counter_change_is_read(const struct counter_change *c)
{
	return !c->set && !c->value;
}
/*
 * Changes a counter, and sets *old to its value before.  If the change needs a disk access or
 * must wait for another thread, it blocks, or with quick returns -EAGAIN.  -EOVERFLOW: the
 * counter would wrap.  -EUCLEAN: the page is damaged.  -errno of the disk.  Disk errors and
 * damage are logged. After an error the counter is unchanged.
 */
int counter_change(struct counters *counters, const struct counter_change *c,
		   bool quick, int64_t *old);

/* A counter for the RDMA atomics of a client. */
struct counter_loan_request {
	struct object_key key;
	unsigned int number; /* below WIRE_COUNTERS */
	struct tp_dev *dev; /* the device of the client's connection */
	int64_t step; /* amount that the client adds, above 0 */
	bool raise; /* raise the ceiling to upto or above */
	int64_t upto;
};
struct counter_loan {
	uint64_t addr; /* 0: not lent */
	uint32_t rkey;
	int64_t ceiling; /* values below it stay valid after a crash */
};
/*
 * Lends the counter to the device, if possible, and raises the ceiling to the disk as needed.  A
 * counter_change() revokes the loan; for some time after that, the counter is not lent.  0: *loan
 * is filled; loan->addr is 0 if the counter is not lent and only the ceiling was raised.
 * -EAGAIN: the counter is not lent now, and request->raise is false.  Other errors are those of
 * counter_change().  Blocks on the disk.
 */
int counter_lend_to_device(struct counters *counters,
			   const struct counter_loan_request *request,
			   struct counter_loan *loan);
/* The object is removed: frees its counters and removes their page. */
void counters_remove_file(struct counters *counters, struct object_key key);

#endif
