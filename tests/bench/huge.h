/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * huge.h - buffers of measurements, in huge pages.  A large buffer gets them
 * unasked with Debian's kernels; some others want to be asked.
 */
#ifndef HUGE_H
#define HUGE_H

#include <stdlib.h>
#include <sys/mman.h>

#define HUGE_PAGE ((size_t)2 << 20)

/* len bytes, to be freed; not in huge pages if smaller than one.  NULL. */
static inline void *huge_alloc(size_t len)
{
	void *mem;

	if (len < HUGE_PAGE)
		return malloc(len);
	len = (len + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
	mem = aligned_alloc(HUGE_PAGE, len);
	if (mem)
		madvise(mem, len, MADV_HUGEPAGE);
	return mem;
}

#endif
