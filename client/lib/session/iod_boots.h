/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * iod_boots.h - records when the iods of a file system lost unflushed data.  If the host of an
 * iod restarts, all data that was written and not flushed is lost.  The record belongs to the
 * mount, because it must outlive a session.
 *
 * 	written (since = 1) ... the host of iod 2 loses power ... met: 1 loss ... flushed: lost
 *
 * Any thread may call.
 */
#ifndef IOD_BOOTS_H
#define IOD_BOOTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/wire/wire.h"

struct iod_boots {
	atomic_uint niods; /* 0: not known yet */
	atomic_uint losses; /* of all iods */
	struct iod_boot {
		/* wire_boot_life() of the last contact; 0: none */
		atomic_uint boot_id;
		/* number of the loss that was its last one; 0: none */
		atomic_uint loss_seq;
	} iod[WIRE_IOD_MAX];
};

/*
 * Records that the client connected to iod number iod, whose host has the boot id boot_id; 0:
 * the iod reports none.  Returns true if the host has restarted since the last contact, so that
 * data written and not flushed may be lost.
 *
 * Two concurrent threads may count a loss twice.  No thread sees the new boot before its
 * loss.
 */
static inline bool iod_boots_met(struct iod_boots *boots, uint32_t iod,
				 uint32_t boot_id)
{
	struct iod_boot *b = &boots->iod[iod];
	unsigned int before = atomic_load(&b->boot_id);
	bool lost = boot_id && before && before != boot_id;

	if (lost)
		atomic_store(&b->loss_seq,
			     1 + atomic_fetch_add(&boots->losses, 1));
	if (boot_id)
		atomic_store(&b->boot_id, boot_id);
	return lost;
}

/* Returns the value that a caller stores with data sent from now on, see iod_boots_kept(). */
static inline unsigned int iod_boots_now(const struct iod_boots *boots)
{
	return 1 + atomic_load(&boots->losses);
}

/* Returns true if the iod has lost no data since iod_boots_now() returned the value since. */
static inline bool iod_boots_kept(const struct iod_boots *boots, uint32_t iod,
				  unsigned int since)
{
	return atomic_load(&boots->iod[iod].loss_seq) < since;
}

#endif
