/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * copyset_design.h - which iods are the copysets of a ring. Pure functions.
 *
 * A copyset has 2 or 3 members in different domains (hosts, racks). Its first member is the
 * primary. Copyset j has the primary j % niods, so a file that is striped over consecutive copysets
 * uses each iod once. Each niods copysets are a round:
 *
 *   6 iods in domains {0, 1}, {2, 3} and {4, 5}, 2 copies
 *   round 0   0-2 1-3 2-4 3-5 4-1 5-0        round 1   0-4 1-5 2-1 3-0 4-3 5-2        ...
 *
 * If an iod fails, the other members of its copysets do its work. So each iod shares copysets with
 * many others, about equally many with each. Rounds of shifted iods are chained declustering (Hsiao
 * and DeWitt, ICDE 1990). The number of rounds is limited. If two or three iods fail together, data
 * is lost if they are a copyset, which is less likely if fewer combinations of iods are copysets
 * (Cidon et al., "Copysets", USENIX ATC 2013).
 */
#ifndef COPYSET_DESIGN_H
#define COPYSET_DESIGN_H

#include "common/dist/copyset.h"

#define COPYSET_ROUNDS_MAX 16u

struct copyset_design {
	uint32_t n; /* copysets; a multiple of the number of iods */
	uint16_t (*member)
		[COPYSET_COPIES_MAX]; /* iods of each copyset; the primary first */
};

/*
 * Designs a ring of niods iods (1 to WIRE_IOD_MAX) with 2 or 3 copies. domain[i] is the domain of
 * iod i: a number below niods. The same arguments give the same design. Takes a second for
 * WIRE_IOD_MAX iods.
 *
 *   - The members of a copyset are in different domains.
 *   - All iods are the primary of equally many copysets.
 *   - An iod is a member of at most 25 % more copysets than another one.
 *   - Iods a and b share at most 2 copysets, or twice as many (rounded up) as a shares with an iod
 *     of another domain on average.
 *
 * 0: the caller frees *out with copyset_design_free(). -ENOTSUP: there is no such design, because
 * too many of the iods are in domain *crowded. -ENOMEM.
 */
int copyset_design_make(uint32_t niods, unsigned int copies,
			const uint32_t *domain, struct copyset_design *out,
			uint32_t *crowded);
void copyset_design_free(struct copyset_design *design);

#endif
