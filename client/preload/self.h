/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * self.h - the state of this process.  A child after fork() starts without its parent's
 * state.  A child made otherwise may share memory with its parent, and uses the kernel
 * only.
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
	/* bypass after this number of calls, ... */
	unsigned int calls_each, calls_all;
	uint64_t bytes_each, bytes_all; /* ... or this number of bytes */
	bool at_once; /* calls wait for the session */
	atomic_uint calls; /* so far, on descriptors of mounts */
	_Atomic uint64_t bytes;
	atomic_uint past; /* calls that bypassed the mounts */
	struct doors doors;
	_Atomic(struct desc *) desc[NUMBERS];
	atomic_uint most; /* 1 + the highest number in use */

	/* POSIX asynchronous requests, see requests.h */
	_Atomic(struct requests *) requests;

	/* the thread of helper.c */
	pthread_mutex_t lock; /* protects all below */
	pthread_cond_t work;
	bool helped; /* the thread exists */
	bool wanted; /* a file is open, or a door must be connected */
	pthread_mutex_t scan; /* held while checking all descriptors */
	atomic_bool closing;
	atomic_bool paused; /* an exec() is in progress, which may fail */
};

/* NULL: use the kernel. */
struct self *self_get(void);
/* The same, but never creates the state. */
struct self *self_there(void);
/* Ends the sessions of this process.  From now on all calls go to the kernel. */
void self_end(void);

/*
 * True: this process was started, or made by fork(), and does not share memory with a
 * parent.
 */
bool self_is_here(void);

/* ---- requests.c ---- */

/* Waits for the requests; in a child, leaves them to the parent. */
void requests_end(struct self *s, bool child);
/* Waits for a limited time until no request is in flight. */
void requests_settle(void);

/* ---- helper.c ---- */

/* Wakes or creates the thread. */
void helper_wake(struct self *s);
/* ---- desc.c ---- */

/* Closes files whose descriptors are gone; all: every file.  True: some are left. */
bool desc_sweep(struct self *s, bool all);

#endif
