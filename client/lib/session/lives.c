/* SPDX-License-Identifier: BSD-2-Clause */
/* lives.c - see lives.h. */
#include "client/lib/session/lives.h"

/*
 * Two concurrent threads may count a loss twice.  No thread sees the new life before its
 * loss.
 */
bool lives_met(struct lives *lives, uint32_t iod, uint32_t life)
{
	struct life *l = &lives->iod[iod];
	unsigned int before = atomic_load(&l->life);
	bool lost = life && before && before != life;

	if (lost)
		atomic_store(&l->lost, 1 + atomic_fetch_add(&lives->losses, 1));
	if (life)
		atomic_store(&l->life, life);
	return lost;
}
