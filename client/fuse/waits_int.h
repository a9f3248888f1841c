/* SPDX-License-Identifier: BSD-2-Clause */
/* waits_int.h - declarations that waiting_locks.c and waits_ask.c share. */
#ifndef WAITS_INT_H
#define WAITS_INT_H

#include <sys/queue.h>

#include "client/fuse/waiting_locks.h"

struct waiting_lock {
	struct call c;
	struct file *f;
	struct mgr_lock lock;
	/* where the lock was not free; 0: not tried in the current session */
	uint64_t session;
	bool interrupted;
	TAILQ_ENTRY(waiting_lock) link;
};
TAILQ_HEAD(waiting_lock_list, waiting_lock);

struct waiting_locks {
	struct fsd *d;
	pthread_t thread;

	/* protects all below; only the thread removes and frees list entries */
	pthread_mutex_t lock;
	pthread_cond_t more;
	struct waiting_lock_list all;
	unsigned int n;
	bool stop;

	/* The LOCK_ANY in flight. */
	struct session *s; /* NULL: no LOCK_ANY in flight */
	bool started, recalled;
	uint32_t nasked;
	struct mgr_wanted wanted[WIRE_LOCK_ANY_MAX];
	struct waiting_lock *who[WIRE_LOCK_ANY_MAX];
};

/* The thread function; arg: struct waiting_locks *. */
void *waiting_locks_main(void *arg);

#endif
