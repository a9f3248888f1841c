/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * gate.h - changes of objects in progress, and their expiry.  From the expiry of a change on, its
 * caller may have been told that the change failed.
 *
 * A change enters the gate before it reads the clock, and begins only if its expiry has not
 * passed.  A change that has begun cannot be taken back, and its thread may be delayed.  A change
 * that is inside the gate and past its expiry is late.  All other requests to its object wait
 * until it leaves.  So if a caller was told that its change failed, every later request finds
 * that the change is made, or it is never made.
 *
 * The gate is a fixed table of stripes, chosen by handle, so objects that are not open have a
 * stripe as well.  If no change of the stripe is late, a request only loads one number.  A
 * request waits only for late changes of its own object.
 */
#ifndef GATE_H
#define GATE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "common/dist/object_key.h"
#include "common/wire/loan_pages.h"

#define GATE_STRIPES LOAN_PAGE_STRIPES

struct gate;
struct gate_stripe;

/* A change in progress.  The caller owns it, and keeps it from gate_enter() to gate_leave(). */
struct gate_entry {
	uint64_t expiry;
	/* private */
	struct object_key key;
	bool by_others; /* entered by gate_enter_late() */
	struct gate_stripe *stripe;
	LIST_ENTRY(gate_entry) link;
};

struct gate_wait {
	/* No change of the object is late any more.  Called from any thread; must not block. */
	void (*go)(struct gate_wait *wait);
	/* private */
	struct object_key key;
	bool waits; /* on the stripe's list; under the stripe's lock */
	TAILQ_ENTRY(gate_wait) link;
};

/*
 * clock: returns the present time on the clock of the expiries, in ns.  -ENOMEM, or -errno of the
 * file of the shared page.
 */
int gate_open(uint64_t (*clock)(void), struct gate **gate);
/* Call it when no change is inside and nobody waits.  NULL: nothing happens. */
void gate_close(struct gate *gate);

/*
 * Enters a change.  0: it is in time; make it, then call gate_leave().  -ETIMEDOUT: its expiry
 * has passed, so it must not be made; it has not entered.
 */
int gate_enter(struct gate *gate, struct object_key key, uint64_t expiry,
	       struct gate_entry *entry);
/*
 * Enters a change of another process that is late and may still be made.  All requests to the
 * object wait until it leaves.
 */
void gate_enter_late(struct gate *gate, struct object_key key, uint64_t expiry,
		     struct gate_entry *entry);
/*
 * The change is done.  If no change of the object is late any more, calls go() of all waits for
 * the object, on this thread.
 */
void gate_leave(struct gate *gate, struct gate_entry *entry);

/*
 * The page that shows the gate to processes that access objects directly (struct loan_page_gate):
 * its descriptor, which the gate owns, and the stripe of the objects of a file in it.
 */
int gate_page(const struct gate *gate);
unsigned int gate_place(uint64_t handle);
/* Returns the address of loan_page_gate.owner, the thread of the iod that lends; 0 at first. */
_Atomic uint32_t *gate_owner(const struct gate *gate);
/* Set and return loan_page_gate.until: the end of the iod's lease, clock_boot(). */
void gate_until(struct gate *gate, uint64_t until);
uint64_t gate_ends(const struct gate *gate);

/* The replacement of an object's file.  The caller owns it from begin to end. */
struct gate_swap {
	/* private; under the stripe's lock */
	struct object_key key;
	bool changed;
	LIST_ENTRY(gate_swap) link;
};
/*
 * Begins a replacement.  True: it has begun, and the caller must call gate_swap_end().  Changes
 * that enter meanwhile do not wait.  False: a change of the object by this process is inside.
 */
bool gate_swap_begin(struct gate *gate, struct object_key key,
		     struct gate_swap *swap);
/*
 * Ends a replacement.  Runs make(arg) before another change can enter, and returns its result.
 * -EAGAIN: a change entered since gate_swap_begin(), and make was not called.  make NULL: the
 * replacement is given up; returns 0.
 */
int gate_swap_end(struct gate *gate, struct gate_swap *swap,
		  int (*make)(void *arg), void *arg);

/*
 * The inode of this process's time namespace, whose clock the times of the page are in.  0: the
 * kernel has no time namespaces, or /proc is missing.
 */
uint64_t gate_clock(void);

/* Whether a change of the object is late: inside, and past its expiry. */
bool gate_is_shut(const struct gate *gate, struct object_key key);
/*
 * True: wait->go() will be called when no change of the object is late; the caller then asks
 * again. The caller owns wait, and keeps it until go() or gate_cancel().  False: no change of the
 * object is late, and go() is not called.
 */
bool gate_wait(struct gate *gate, struct object_key key,
	       struct gate_wait *wait);
/*
 * Cancels a wait; key is as given to gate_wait().  True: go() was not called and will not be.
 * False: go() was called, or is about to be.
 */
bool gate_cancel(struct gate *gate, struct object_key key,
		 struct gate_wait *wait);

#endif
