/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pin_int.h - shared by the files of pin.h: the table of cached pins (pins.c) and the life of one
 * pin (pin.c).
 *
 * While the lock is held, nothing may be allocated, freed or registered. A free() may unmap memory,
 * which waits for the reader of the watch. Pins to be deregistered are collected in a list, and
 * reaped without the lock.
 */
#ifndef PIN_INT_H
#define PIN_INT_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/queue.h>
#include <sys/types.h>

#include "common/buffer/itree.h"
#include "common/buffer/pin.h"
#include "common/buffer/watch.h"

struct pin {
	struct itree_node node; /* must be first; the bytes */
	struct tp_mr *mr;
	unsigned int access;
	/* under the lock */
	unsigned int refs;
	bool cached; /* in the tree, and watched */
	bool ready; /* mr is valid */
	bool doubt; /* counted in ndoubt */
	TAILQ_ENTRY(pin) link; /* on the idle list, or on a list to be reaped */
};
TAILQ_HEAD(pin_list, pin);

struct pins {
	struct tp_dev *dev;
	const struct log *log;
	size_t max_bytes;
	unsigned int max_pins;
	pid_t owner;
	bool unable; /* a watch is wanted, but cannot be opened */
	struct watch *watch; /* NULL: nothing is cached */
	pthread_mutex_t lock; /* protects the rest */
	pthread_cond_t settled;
	struct itree tree;
	struct pin_list idle; /* cached, refs 0; least recently used first */
	unsigned int ndoubt; /* dropped, not yet deregistered */
	struct pins_stats stats;
};

static inline struct pin *pin_of(struct itree_node *node)
{
	return (struct pin *)node;
}

static inline size_t pin_len(const struct pin *pin)
{
	return pin->node.hi - pin->node.lo;
}

/* False in a child after fork(). */
bool pins_mine(const struct pins *ps);

/* ---- the caller holds the lock ---- */

/* Removes pins whose memory disappeared. False: a change is in progress, more may follow. */
bool pins_refresh(struct pins *ps, struct pin_list *out);
void pins_take_gone(struct pins *ps, struct pin_list *out);
/* Evicts until a pin of len bytes has room. False: there is not enough. */
bool pins_make_room(struct pins *ps, size_t len, struct pin_list *out);
void pins_insert(struct pins *ps, struct pin *pin);
/* Removes a pin from the tree; an unused one moves to out. out may be NULL for pins in use. */
void pins_kill(struct pins *ps, struct pin *pin, struct pin_list *out);

/* ---- without the lock ---- */

/* Deregisters and frees the pins in out. */
void pins_reap(struct pins *ps, struct pin_list *out);
/* Evicts all unused pins. Returns whether there were any. */
bool pins_evict_idle(struct pins *ps);
void pins_count_miss(struct pins *ps, const struct pin *pin);

#endif
