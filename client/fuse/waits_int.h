/* SPDX-License-Identifier: BSD-2-Clause */
/* waits_int.h - what waits.c and waits_ask.c share. */
#ifndef WAITS_INT_H
#define WAITS_INT_H

#include <sys/queue.h>

#include "client/fuse/waits.h"

struct wait {
	struct call c;
	struct file *f;
	struct mgr_lock lock;
	uint64_t session; /* in which it was not free; 0: not tried there */
	bool interrupted;
	TAILQ_ENTRY(wait) link;
};
TAILQ_HEAD(wait_list, wait);

struct waits {
	struct fsd *d;
	pthread_t thread;

	pthread_mutex_t lock; /* all below; who is in the list is taken out
			       * and freed by the thread alone */
	pthread_cond_t more;
	struct wait_list all;
	unsigned int n;
	bool stop;

	/* The LOCK_ANY under way. */
	struct session *s; /* NULL: none is */
	bool started, recalled;
	uint32_t nasked;
	struct mgr_wanted wanted[WIRE_LOCK_ANY_MAX];
	struct wait *who[WIRE_LOCK_ANY_MAX];
};

/* The thread that asks; arg: struct waits *. */
void *waits_main(void *arg);

#endif
