/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * zone.h - registered buffers of several sizes, shared fairly.
 *
 * All buffers are allocated and registered at the start, in zones of one size each. A request takes
 * a buffer from the zone that fits, else from a bigger one. If there is none, the request gets the
 * biggest free buffer and moves its data in smaller pieces. So memory does not fragment.
 *
 * Each session is an owner of buffers. An owner gets another buffer only if it holds fewer bytes
 * than are free (Choudhury and Hahne, IEEE/ACM Transactions on Networking 6(2), 1998: dynamic
 * thresholds, alpha = 1). This is checked when a buffer is given out, not later. So a single owner
 * gets at most half of the memory, and one buffer more. An owner that comes later gets about half
 * of what is then free, so several owners that keep their buffers can occupy all of them. If two
 * owners take turns, each gets about a third.
 *
 * An owner that may not have a buffer now waits in a ring. A returned buffer goes to the first
 * owner in the ring that may have it, and this owner moves to the end of the ring. An owner without
 * a buffer may have any returned one, so it waits at most one round. The requests of an owner are
 * served in the order of arrival.
 *
 * A zone gives out the buffer that was returned last. So under light load only few buffers are
 * used, and they stay in the CPU cache.
 *
 * (The server's buffer manager of "PVFS over InfiniBand", ICPP 2003, section 3.3.2.)
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
	struct rail_mem *mem; /* the registration of all zones */
	/* private */
	struct zone *zone;
	struct zone_owner *owner;
	SLIST_ENTRY(zone_buf) link;
};

struct zone_wait {
	/*
	 * Called when the waiter gets the buffer, which it now owns. The call comes from inside
	 * zone_put() or zone_wait_cancel(), and may call any function of the zones.
	 */
	void (*ready)(struct zone_wait *wait, struct zone_buf *buf);
	/* private */
	size_t want;
	struct zone_owner *owner; /* NULL if not waiting */
	TAILQ_ENTRY(zone_wait) link;
};

/* A session or another party that shares the buffers; see zone_owner_init(). */
struct zone_owner {
	size_t held; /* bytes of the buffers that it holds */
	/* private */
	TAILQ_HEAD(, zone_wait) waits;
	TAILQ_ENTRY(zone_owner) link;
	bool queued;
};

struct zone_size {
	size_t size; /* bytes of a buffer, a multiple of 4096 */
	unsigned int count; /* number of buffers, at least 1 */
};

struct zones_attr {
	const struct rails *rails; /* only zones_open() uses it */
	unsigned int n; /* number of zones, 1 to ZONES_MAX */
	struct zone_size zone[ZONES_MAX]; /* in increasing order of size */
};

struct zones_stats {
	size_t bytes; /* bytes of all buffers */
	uint64_t gets; /* number of buffers given out so far */
	uint64_t waits; /* number of requests that had to wait */
	uint64_t bigger; /* number of buffers from a bigger zone than fits */
	/* number of buffers smaller than requested, although the zones have bigger ones */
	uint64_t chopped;
	unsigned int n;
	struct zone_use {
		size_t size;
		unsigned int count, in_use;
		unsigned int most; /* largest number of buffers in use so far */
	} zone[ZONES_MAX];
};

/*
 * Registers the buffers with all rails. Returns 0; -EINVAL if sizes or counts are wrong; -ENOMEM;
 * or an error of tp_mr_reg().
 */
int zones_open(const struct zones_attr *attr, struct zones **zones);
/* The caller has returned all buffers, and no owner waits. */
void zones_close(struct zones *zones);
/* Any thread may call it while the zones are open. */
void zones_stats(const struct zones *zones, struct zones_stats *stats);
/* Returns the bytes of all buffers, or 0 if attr is not valid. */
size_t zones_bytes(const struct zones_attr *attr);

void zone_owner_init(struct zone_owner *owner);

/*
 * Returns a buffer for `want` bytes, or a smaller one if no free one is big enough. Returns NULL if
 * no buffer is free, if the owner may not have another one now, or if it already waits. Then
 * wait->ready() later gets a buffer. The caller owns *wait, and must not change or free it until
 * then.
 */
struct zone_buf *zone_get_wait(struct zones *zones, struct zone_owner *owner,
			       size_t want, struct zone_wait *wait);
/* Does nothing if wait is not waiting. */
void zone_wait_cancel(struct zones *zones, struct zone_wait *wait);
void zone_put(struct zones *zones, struct zone_buf *buf);

#endif
