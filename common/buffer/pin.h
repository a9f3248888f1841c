/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pin.h - registrations of the user's memory that are kept for the next time.
 *
 * A pin is registered memory.  pin_get() finds one that covers the range or
 * registers it; pin_put() does not deregister but keeps it, least recently
 * used first to go, within bounds of bytes and number.  (The pin-down cache of
 * Tezuka et al., as in "PVFS over InfiniBand", ICPP 2003, sections 3.3.3 and
 * 4.1.2.)
 *
 * A kept registration of memory that was unmapped, and perhaps mapped again,
 * leads a transfer to the wrong pages.  So nothing is kept that watch.h cannot
 * watch: where the kernel does not have or permit that, for files and shared
 * memory, and while a change is under way, each call registers for itself.
 * Nor is anything kept where a registration is a cheap entry in a table (tcp,
 * local), unless it is asked for.
 *
 * What went while it was in use is deregistered when it is put, other pins of
 * memory that went at the next call.  In the child of a fork the parent's
 * pins are of no use: see pins_abandon().
 *
 * All functions may be called by any thread at any time.
 */
#ifndef PIN_H
#define PIN_H

#include "common/transport/transport.h"

struct pins;
struct pin;

enum pins_mode {
	PINS_OFF, /* keep nothing */
	PINS_AUTO, /* keep where registration is dear */
	PINS_ON, /* keep wherever memory can be watched */
};

struct pins_attr {
	struct tp_dev *dev; /* outlives the pins */
	const struct log *log;
	enum pins_mode mode;
	size_t max_bytes; /* kept or in use, 0: 1 GiB; more is registered */
	unsigned int max_pins; /* per call; 0: 1024 */
};

struct pins_stats {
	size_t bytes; /* in the cache */
	unsigned int pins;
	uint64_t hits, misses;
	uint64_t uncached; /* of the misses: registered for one call */
	uint64_t evictions; /* to make room */
	uint64_t invalidations; /* the memory went */
	char keeps; /* 'y'; 'n': switched off or of no use; '-': unable to */
};

/* -ENOMEM.  Being unable to watch memory is no error: it is logged. */
int pins_open(const struct pins_attr *attr, struct pins **pins);
/* Whether anything is kept at all. */
bool pins_keep(const struct pins *pins);
/* All are put. */
void pins_close(struct pins *pins);
/*
 * In a child after fork(): closes what belongs to the parent.  Nothing else may
 * be called on pins, nor put what the parent had; the memory stays.
 */
void pins_abandon(struct pins *pins);
void pins_stats(struct pins *pins, struct pins_stats *stats);

/*
 * A pin of [addr, addr + len) with at least this access.  0, or as
 * tp_mr_reg(); -ECHILD: these are the pins of a parent process.
 */
int pin_get(struct pins *pins, void *addr, size_t len, unsigned int access,
	    struct pin **pin);
/* check_if_registered: the same, if it is there; else NULL. */
struct pin *pin_find(struct pins *pins, void *addr, size_t len,
		     unsigned int access);
void pin_put(struct pins *pins, struct pin *pin);
/*
 * Instead of pin_put() when a peer may still use the memory: it is not found
 * again and is deregistered when the last who has it puts it.
 * pins_settle() waits until that was done for all such pins: 0, or
 * -ETIMEDOUT.
 */
void pin_drop(struct pins *pins, struct pin *pin);
int pins_settle(struct pins *pins, uint64_t deadline);

/* The registration; covers what was asked for, and perhaps more. */
struct tp_mr *pin_mr(const struct pin *pin);

/* "off", "auto" or "on"; else -EINVAL. */
int pins_mode_parse(const char *text, enum pins_mode *mode);

#endif
