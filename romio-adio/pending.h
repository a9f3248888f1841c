/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pending.h - accesses in flight while the program computes: requests of the library
 * (pvfs_aio.h), one after the other.  They make no MPI calls, so any level of thread
 * support is enough.
 *
 * 	[lock] ---> as many pieces as a call takes ---+---> [unlock] ---> over
 * 	                ^------------------------------'
 */
#ifndef PENDING_H
#define PENDING_H

#include <pvfs_aio.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "romio-adio/strided.h"

struct pending {
	struct pvfs_aio aio;
	struct strided *s;
	struct flock range; /* locked range of an atomic access */
	int64_t result; /* bytes or -errno, valid once it is over */
	atomic_bool over;
};

/*
 * Starts an access.  s must stay until it is over.  Returns 0, or -errno: nothing was
 * started.
 */
int pending_start(struct pending *p, struct strided *s);
/* Marks an access as over that was executed otherwise. */
void pending_ended(struct pending *p, int64_t result);
bool pending_over(const struct pending *p);
/* Advances what can progress without waiting.  Returns pending_over(). */
bool pending_move(struct pending *p);
/*
 * Waits until the access is over, at most seconds, and drives it.  0: no limit, because
 * each request has a timeout.
 */
void pending_wait(struct pending *p, double seconds);

#endif
