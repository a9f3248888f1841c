/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * zone.h - registered buffers of several sizes, shared fairly.
 *
 * All buffers are allocated and registered at the start, in zones of one size
 * each.  A request takes a buffer from the zone that fits it, else from a
 * bigger one; if there is none it gets the biggest that is left and moves
 * its data in smaller pieces.  So there is no fragmentation.
 *
 * An owner (a session each) gets another one while it holds less than is free: half
 * of the memory if it is alone, a third each if two hold what they may, and there is some
 * for the next until as many hold some as there are buffers: few clients that do not move
 * their data cannot take it all (Choudhury and Hahne, IEEE/ACM Transactions on
 * Networking 6(2), 1998: dynamic thresholds, alpha = 1).
 *
 * Who may not have one waits in a ring: a buffer that comes back goes to the first
 * that may have it, who then goes to the end; within an owner requests are served in
 * order of arrival.
 *
 * The buffer that came back last is taken first: few buffers are in use when
 * there is little to do, and these are in the processor's cache.
 *
 * (The server's buffer manager of "PVFS over InfiniBand", ICPP 2003, section
 * 3.3.2.)
 *
 * Zones belong to one thread.
 */
#ifndef ZONE_H
#define ZONE_H

#include <stdbool.h>
#include <sys/queue.h>

#include "common/buffer/rail.h"

#define ZONES_MAX 16u

struct zones;

struct zone_buf {
	void *addr;
	size_t len;
	struct rail_mem *mem; /* of all zones */
	/* private */
	struct zone *zone;
	struct zone_owner *owner;
	SLIST_ENTRY(zone_buf) link;
};

struct zone_wait {
	/*
	 * The buffer is the waiter's now.  Called from zone_put() or
	 * zone_wait_cancel(); may call any function of the zones.
	 */
	void (*ready)(struct zone_wait *wait, struct zone_buf *buf);
	/* private */
	size_t want;
	struct zone_owner *owner; /* NULL: does not wait */
	TAILQ_ENTRY(zone_wait) link;
};

/* Who buffers are shared among; zone_owner_init(). */
struct zone_owner {
	size_t held; /* bytes */
	/* private */
	TAILQ_HEAD(, zone_wait) waits;
	TAILQ_ENTRY(zone_owner) link;
	bool queued;
};

struct zone_size {
	size_t size; /* bytes of a buffer, a multiple of 4096 */
	unsigned int count; /* buffers, at least 1 */
};

struct zones_attr {
	const struct rails *rails; /* of zones_open() only */
	unsigned int n; /* zones, 1 to ZONES_MAX */
	struct zone_size zone[ZONES_MAX]; /* from small to big */
};

struct zones_stats {
	size_t bytes; /* of all buffers */
	uint64_t gets; /* buffers given ... */
	uint64_t waits; /* that had to be waited for */
	uint64_t bigger; /* from a bigger zone than fits */
	uint64_t chopped; /* smaller than was wanted and exists */
	unsigned int n;
	struct zone_use {
		size_t size;
		unsigned int count, in_use;
		unsigned int most; /* ever in use */
	} zone[ZONES_MAX];
};

/* Registered with all rails.  -EINVAL: sizes or counts; -ENOMEM, or as tp_mr_reg(). */
int zones_open(const struct zones_attr *attr, struct zones **zones);
/* All buffers are back and nobody waits. */
void zones_close(struct zones *zones);
/* Any thread, as long as they are open. */
void zones_stats(const struct zones *zones, struct zones_stats *stats);
/* Bytes of all buffers; 0: attr is not valid. */
size_t zones_bytes(const struct zones_attr *attr);

void zone_owner_init(struct zone_owner *owner);

/*
 * A buffer for want bytes, or a smaller one if there is none so big.  NULL:
 * none is free, the owner has enough, or others wait already; then the
 * owner waits and wait->ready() brings the buffer later.  wait stays the
 * caller's, untouched until then.
 */
struct zone_buf *zone_get_wait(struct zones *zones, struct zone_owner *owner,
			       size_t want, struct zone_wait *wait);
/* Nothing happens if it does not wait. */
void zone_wait_cancel(struct zones *zones, struct zone_wait *wait);
void zone_put(struct zones *zones, struct zone_buf *buf);

#endif
