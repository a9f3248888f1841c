/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pin_int.h - what the files of pin.h share: the table of the pins that are
 * kept (pins.c) and the life of one (pin.c).
 *
 * With the lock nothing is allocated, freed or registered: a free() may give
 * memory back to the kernel, which waits for the reader of the watch.  Pins
 * that are to be deregistered are gathered in a list and reaped without it.
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
	struct itree_node node; /* first; the bytes */
	struct tp_mr *mr;
	unsigned int access;
	/* under the lock */
	unsigned int refs;
	bool cached; /* in the tree, and watched */
	bool ready; /* mr is there */
	bool doubt; /* counted in ndoubt */
	TAILQ_ENTRY(pin) link; /* idle, or to be reaped */
};
TAILQ_HEAD(pin_list, pin);

struct pins {
	struct tp_dev *dev;
	const struct log *log;
	size_t max_bytes;
	unsigned int max_pins;
	pid_t owner;
	bool unable; /* there should be a watch */
	struct watch *watch; /* NULL: nothing is kept */
	pthread_mutex_t lock; /* of the rest */
	pthread_cond_t settled;
	struct itree tree;
	struct pin_list idle; /* cached, refs 0; least recent first */
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

/* Not in the child of a fork. */
bool pins_mine(const struct pins *ps);

/* ---- with the lock ---- */

/* Kills what went.  Whether that is all: no change is under way. */
bool pins_refresh(struct pins *ps, struct pin_list *out);
void pins_take_gone(struct pins *ps, struct pin_list *out);
/* Evicts until a pin of len bytes has room; false: it has none. */
bool pins_make_room(struct pins *ps, size_t len, struct pin_list *out);
void pins_insert(struct pins *ps, struct pin *pin);
/* Out of the tree; an idle one to out, which may be NULL for others. */
void pins_kill(struct pins *ps, struct pin *pin, struct pin_list *out);

/* ---- without ---- */

/* Deregisters and frees. */
void pins_reap(struct pins *ps, struct pin_list *out);
/* All that nobody uses; whether there were any. */
bool pins_evict_idle(struct pins *ps);
void pins_count_miss(struct pins *ps, const struct pin *pin);

#endif
