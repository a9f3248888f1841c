/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pin.h - a cache of registrations of user memory (the pin-down cache).
 *
 * A pin is registered memory. pin_get() finds one that covers the range, or registers it. pin_put()
 * keeps the registration. Limits of bytes and number apply; the least recently used pin is evicted
 * first. (The pin-down cache of Tezuka et al., as in "PVFS over InfiniBand", ICPP 2003, sections
 * 3.3.3 and 4.1.2.)
 *
 * A cached registration of memory that was unmapped, and perhaps mapped again, would direct a
 * transfer to the wrong pages. So only memory that watch.h can watch is cached. Each call registers
 * for itself if the kernel lacks or forbids watching, for files and shared memory, and while a
 * change is in progress. Nothing is cached either if a registration is only an entry in a table
 * (tcp, local), unless the configuration asks for it.
 *
 * If memory disappears while its pin is in use, the pin is deregistered when it is returned. Other
 * pins of such memory are deregistered at the next call. A child after fork() cannot use the
 * parent's pins: see pins_abandon().
 *
 * Any thread may call any of these functions at any time.
 */
#ifndef PIN_H
#define PIN_H

#include "common/transport/transport.h"

struct pins;
struct pin;

enum pins_mode {
	PINS_OFF, /* cache nothing */
	PINS_AUTO, /* cache if registration is slow */
	PINS_ON, /* cache whenever memory can be watched */
};

struct pins_attr {
	struct tp_dev *dev; /* must outlive the pins */
	const struct log *log;
	enum pins_mode mode;
	size_t max_bytes; /* cached or in use, 0: 1 GiB; memory above the limits */
	unsigned int max_pins; /* is registered per call; 0: 1024 */
};

struct pins_stats {
	size_t bytes; /* in the cache */
	unsigned int pins;
	uint64_t hits, misses;
	uint64_t uncached; /* those of the misses that were registered for one call */
	uint64_t evictions; /* evicted to make room */
	uint64_t invalidations; /* the memory disappeared */
	char keeps; /* 'y': caches; 'n': switched off or not useful; '-': cannot watch */
};

/* -ENOMEM. If memory cannot be watched, this is logged, not returned. */
int pins_open(const struct pins_attr *attr, struct pins **pins);
/* Whether anything is cached at all. */
bool pins_keep(const struct pins *pins);
/* All pins must be returned. */
void pins_close(struct pins *pins);
/*
 * Call it in a child after fork(): closes the parent's descriptors. Nothing else may be called on
 * pins, and the parent's pins must not be returned. The memory is not freed.
 */
void pins_abandon(struct pins *pins);
void pins_stats(struct pins *pins, struct pins_stats *stats);

/*
 * Gets a pin of [addr, addr + len) with at least this access. 0, or as tp_mr_reg(); -ECHILD: these
 * are the pins of a parent process.
 */
int pin_get(struct pins *pins, void *addr, size_t len, unsigned int access,
	    struct pin **pin);
/* The paper's check_if_registered: as pin_get(), but only from the cache; NULL: not cached. */
struct pin *pin_find(struct pins *pins, void *addr, size_t len,
		     unsigned int access);
void pin_put(struct pins *pins, struct pin *pin);
/*
 * Replaces pin_put() when a peer may still use the memory. The pin is not found again, and is
 * deregistered when its last user returns it. pins_settle() waits until this was done for all such
 * pins: 0, or -ETIMEDOUT.
 */
void pin_drop(struct pins *pins, struct pin *pin);
int pins_settle(struct pins *pins, uint64_t deadline);

/* The registration. It covers what was requested, and perhaps more. */
struct tp_mr *pin_mr(const struct pin *pin);

/* Parses "off", "auto" or "on"; else -EINVAL. */
int pins_mode_parse(const char *text, enum pins_mode *mode);

#endif
