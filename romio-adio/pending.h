/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pending.h - accesses that are under way while the program computes: requests of
 * the library (pvfs_aio.h), one after the other.  They ask nothing of MPI, so that
 * any level of thread support does.
 *
 *	[lock] ---> as many pieces as a call takes ---+---> [unlock] ---> over
 *	                ^------------------------------'
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
	struct flock range; /* of an atomic one */
	int64_t result; /* bytes or -errno, once it is over */
	atomic_bool over;
};

/* s stays until it is over.  0, or -errno: nothing was begun. */
int pending_start(struct pending *p, struct strided *s);
/* It was carried out otherwise. */
void pending_ended(struct pending *p, int64_t result);
bool pending_over(const struct pending *p);
/* The same, after moving on what can be without waiting. */
bool pending_move(struct pending *p);
/*
 * Waits until it is over, at most seconds (0: without a bound of its own, since
 * each request has one), and moves it on.
 */
void pending_wait(struct pending *p, double seconds);

#endif
