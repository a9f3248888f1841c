/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lives.h - what the iods of a file system keep in memory alone, and when it was lost: a host
 * that was started anew has nothing of what was written to its iods and not flushed. It
 * belongs to the mount: sessions come and go.
 *
 *	written (since = 1) ... the host of iod 2 loses power ... met: 1 loss ... flushed: lost
 *
 * From any thread.
 */
#ifndef LIVES_H
#define LIVES_H

#include <stdatomic.h>
#include <stdint.h>

#include "common/wire/wire.h"

struct lives {
	atomic_uint niods; /* 0: not known yet */
	atomic_uint losses; /* of any */
	struct life {
		atomic_uint
			life; /* wire_boot_life() of the last one; 0: not met */
		atomic_uint
			lost; /* which of the losses was its last one; 0: none */
	} iod[WIRE_IOD_MAX];
};

/* The iod was met, of that life; 0: it does not say.  True: what was written to the one before,
 * and not flushed, may be lost. */
bool lives_met(struct lives *lives, uint32_t iod, uint32_t life);

/* For what is sent from now on: never 0. */
static inline unsigned int lives_now(const struct lives *lives)
{
	return 1 + atomic_load(&lives->losses);
}

/* Is what was sent to the iod since then, one of lives_now(), there as long as it runs? */
static inline bool lives_kept(const struct lives *lives, uint32_t iod,
			      unsigned int since)
{
	return atomic_load(&lives->iod[iod].lost) < since;
}

#endif
