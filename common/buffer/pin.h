/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pin.h - a cache of registrations of user memory (the pin-down cache).
 *
 * A pin is registered memory. pin_get() finds one that covers the range, or registers it. pin_put()
 * keeps the registration. Limits of bytes and number apply; the least recently used pin is evicted
 * first. (The pin-down cache of Tezuka et al., as in "PVFS over InfiniBand", ICPP 2003, sections
 * 3.3.3 and 4.1.2.)
 *
 * If memory was unmapped, and perhaps mapped again, a cached registration would direct a transfer
 * to the wrong pages. So the cache has only memory that watch.h can watch. Other memory is
 * registered for each call: files, shared memory, all memory if the kernel does not permit
 * watching, and memory that is just being unmapped. If a registration is only an entry in a table
 * (tcp, local), the cache is off, unless the configuration enables it.
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
	PINS_OFF, /* the cache keeps nothing */
	PINS_AUTO, /* the cache keeps pins if registration is slow */
	PINS_ON, /* the cache keeps pins of all memory that can be watched */
};

struct pins_attr {
	struct tp_dev *dev; /* must outlive the pins */
	const struct log *log;
	enum pins_mode mode;
	/*
	 * Limits for pins that are cached or in use; 0 means 1 GiB and 1024 pins. Memory above the
	 * limits is registered for each call.
	 */
	size_t max_bytes;
	unsigned int max_pins;
};

struct pins_stats {
	size_t bytes; /* bytes of memory in the cache */
	unsigned int pins;
	uint64_t hits, misses;
	uint64_t uncached; /* misses whose memory was registered only for the call */
	uint64_t evictions; /* pins that were evicted to make room */
	uint64_t invalidations; /* pins whose memory disappeared */
	/*
	 * 'y' if the cache keeps pins; 'n' if it is off or not useful; '-' if memory cannot be
	 * watched
	 */
	char keeps;
};

/* Returns 0 or -ENOMEM. If memory cannot be watched, this is logged and is not an error. */
int pins_open(const struct pins_attr *attr, struct pins **pins);
/* Returns whether the cache keeps any pins. */
bool pins_keep(const struct pins *pins);
/* The caller has returned all pins. */
void pins_close(struct pins *pins);
/*
 * In a child after fork(): closes the child's descriptors of the parent's pins. The memory is not
 * freed. Afterwards the child must not call anything on pins, nor pin_put() for a pin of the
 * parent.
 */
void pins_abandon(struct pins *pins);
void pins_stats(struct pins *pins, struct pins_stats *stats);

/*
 * Sets *pin to a pin of [addr, addr + len) with at least the given access, from the cache or new.
 * The caller returns it with pin_put(). Returns 0; -EINVAL if len is 0 or the range overflows;
 * -ECHILD if these are the pins of the parent process; or the error of tp_mr_reg().
 */
int pin_get(struct pins *pins, void *addr, size_t len, unsigned int access,
	    struct pin **pin);
/*
 * Returns a cached pin as pin_get() does, or NULL if there is none. (The paper's
 * check_if_registered.)
 */
struct pin *pin_find(struct pins *pins, void *addr, size_t len,
		     unsigned int access);
void pin_put(struct pins *pins, struct pin *pin);
/*
 * Called instead of pin_put() if a peer may still access the memory: removes the pin from the
 * cache. The pin is deregistered when its last user returns it. pins_settle() waits until all such
 * pins are deregistered. It returns 0, or -ETIMEDOUT if the deadline has passed.
 */
void pin_drop(struct pins *pins, struct pin *pin);
int pins_settle(struct pins *pins, uint64_t deadline);

/* Returns the registration of the pin. It covers the requested range, and perhaps more. */
struct tp_mr *pin_mr(const struct pin *pin);

/* Parses "off", "auto" or "on". -EINVAL if text is anything else. */
int pins_mode_parse(const char *text, enum pins_mode *mode);

#endif
