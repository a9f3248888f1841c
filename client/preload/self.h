/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * self.h - all that this process has here.  A child has nothing of its parent's: after
 * fork() it begins anew; who was made otherwise, and may share memory, goes the
 * kernel's way.
 */
#ifndef SELF_H
#define SELF_H

#include "client/preload/door.h"
#include "client/preload/inside.h"
#include "client/preload/numbers.h"

struct desc;
struct requests;

struct self {
	pid_t pid;
	unsigned int calls_each, calls_all; /* after so many it pays, */
	uint64_t bytes_each, bytes_all; /* ... or so many bytes */
	bool at_once; /* a call waits for the session */
	atomic_uint calls; /* so far, on descriptors of mounts */
	_Atomic uint64_t bytes;
	atomic_uint past; /* calls that went past the mounts */
	struct doors doors;
	_Atomic(struct desc *) desc[NUMBERS];
	atomic_uint most; /* above the highest of them */

	_Atomic(struct requests *) requests; /* POSIX's, see requests.h */

	/* the thread: helper.c */
	pthread_mutex_t lock; /* all below */
	pthread_cond_t work;
	bool helped; /* it is there */
	bool wanted; /* something is open, or a door is to be connected */
	pthread_mutex_t scan; /* held by who looks through all */
	atomic_bool closing;
	atomic_bool paused; /* an exec() is under way, which may fail */
};

/* NULL: the kernel's way. */
struct self *self_get(void);
/* The same, if there is one. */
struct self *self_there(void);
/* The sessions of this process end; from now on all goes the kernel's way. */
void self_end(void);

/* Is this the process that was started, or one by fork(), and not one that shares
 * memory with it? */
bool self_is_here(void);

/* ---- requests.c ---- */

/* Waits for them; or, in a child, leaves them to its parent. */
void requests_end(struct self *s, bool child);
/* Waits until none is under way, for a while. */
void requests_settle(void);

/* ---- helper.c ---- */

/* There is something to look after. */
void helper_wake(struct self *s);
/* ---- desc.c ---- */

/* Closes what descriptors do not show any more; all: everything.  True: some is left. */
bool desc_sweep(struct self *s, bool all);

#endif
