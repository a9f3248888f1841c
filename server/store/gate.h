/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gate.h - changes of objects that are being made, and their expiry: the moment
 * from which on their callers may have been told that they failed.
 *
 * A change enters before it looks at the clock, and begins only if its expiry has
 * not passed.  Then nothing can take it back, and its thread may stand still before
 * it is done.  So whoever comes while it is past its expiry waits until it has
 * left: what follows a failure finds the change made, or never.
 *
 * A fixed table of stripes, by handle: an object that is not open has its place
 * as well.  Who comes loads one number where nothing of its stripe is late; only
 * changes of his own object keep him waiting.
 */
#ifndef GATE_H
#define GATE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "common/wire/lent.h"

#define GATE_STRIPES LENT_STRIPES

struct gate;
struct gate_stripe;

/* A change; the caller's from gate_enter() to gate_leave(). */
struct gate_entry {
	uint64_t expiry;
	/* private */
	uint64_t handle;
	bool others; /* gate_enter_late() */
	struct gate_stripe *stripe;
	LIST_ENTRY(gate_entry) link;
};

struct gate_wait {
	/* Nothing of it is late any more: from any thread, and must not block. */
	void (*go)(struct gate_wait *wait);
	/* private */
	uint64_t handle;
	bool waits; /* under the stripe's lock */
	TAILQ_ENTRY(gate_wait) link;
};

/* clock: what expiries are compared with, ns.  -errno. */
int gate_open(uint64_t (*clock)(void), struct gate **gate);
/* Nobody is inside, nobody waits.  NULL: nothing happens. */
void gate_close(struct gate *gate);

/*
 * 0: entered, and in time; do it, then gate_leave().  -ETIMEDOUT: it must not be
 * done any more, and did not enter.
 */
int gate_enter(struct gate *gate, uint64_t handle, uint64_t expiry,
	       struct gate_entry *entry);
/*
 * The same for a change that is late already, and may still be made, by others
 * than this process: nobody else comes to its object until it leaves.
 */
void gate_enter_late(struct gate *gate, uint64_t handle, uint64_t expiry,
		     struct gate_entry *entry);
/* What was waited for is done: go() of those who wait comes from here. */
void gate_leave(struct gate *gate, struct gate_entry *entry);

/*
 * The page that shows all this to processes that come to objects by themselves: a
 * descriptor, the gate's, and the place of a handle in it.
 */
int gate_page(const struct gate *gate);
unsigned int gate_place(uint64_t handle);
/* Who lends, as struct lent_gate says; 0 at first. */
_Atomic uint32_t *gate_owner(const struct gate *gate);
/* Until when they may. */
void gate_until(struct gate *gate, uint64_t until);
uint64_t gate_ends(const struct gate *gate);

/* Another file is to take the object's place; the caller's from begin to end. */
struct gate_swap {
	/* private; under the stripe's lock */
	uint64_t handle;
	bool changed;
	LIST_ENTRY(gate_swap) link;
};
/*
 * True: no change of the object by this process is inside; gate_swap_end() follows.
 * Those who enter are not kept waiting.
 */
bool gate_swap_begin(struct gate *gate, uint64_t handle,
		     struct gate_swap *swap);
/*
 * What make(arg) returned, which ran before anybody could enter; or -EAGAIN: somebody did
 * since the begin.  make NULL: it is given up, 0.
 */
int gate_swap_end(struct gate *gate, struct gate_swap *swap,
		  int (*make)(void *arg), void *arg);

/*
 * The inode of this process's time namespace, of which the moments of the page are; 0: there
 * is none, or no /proc.
 */
uint64_t gate_clock(void);

/* A change of the object is past its expiry and still inside. */
bool gate_is_shut(const struct gate *gate, uint64_t handle);
/*
 * True: wait->go() comes when nothing of the object is late; look again then.
 * False: there is nothing to wait for.
 */
bool gate_wait(struct gate *gate, uint64_t handle, struct gate_wait *wait);
/*
 * True: go() did not come and does not.  False: it did, or is about to.  handle: as
 * for gate_wait().
 */
bool gate_cancel(struct gate *gate, uint64_t handle, struct gate_wait *wait);

#endif
