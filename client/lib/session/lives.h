/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lives.h - data that the iods of a file system have only in memory, and when it was
 * lost.  After a restart of its host, an iod has lost what was written and not flushed.
 * The state belongs to the mount, because sessions come and go.
 *
 * 	written (since = 1) ... the host of iod 2 loses power ... met: 1 loss ... flushed: lost
 *
 * Any thread may call.
 */
#ifndef LIVES_H
#define LIVES_H

#include <stdatomic.h>
#include <stdint.h>

#include "common/wire/wire.h"

struct lives {
	atomic_uint niods; /* 0: not known yet */
	atomic_uint losses; /* of all iods */
	struct life {
		/* wire_boot_life() of the last contact; 0: none */
		atomic_uint life;
		/* number of the loss that was its last one; 0: none */
		atomic_uint lost;
	} iod[WIRE_IOD_MAX];
};

/*
 * Records contact with the iod and its present life; 0: it reports none.  True: data that
 * was written before, and not flushed, may be lost.
 */
bool lives_met(struct lives *lives, uint32_t iod, uint32_t life);

/* The value for data sent from now on; never 0. */
static inline unsigned int lives_now(const struct lives *lives)
{
	return 1 + atomic_load(&lives->losses);
}

/* True: data sent to the iod since then, a value of lives_now(), was not lost. */
static inline bool lives_kept(const struct lives *lives, uint32_t iod,
			      unsigned int since)
{
	return atomic_load(&lives->iod[iod].lost) < since;
}

#endif
