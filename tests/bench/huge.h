/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * huge.h - buffers of measurements, in huge pages.  Debian's kernels use huge pages for large
 * buffers.  Some other kernels use them only after madvise(2).
 */
#ifndef HUGE_H
#define HUGE_H

#include <stdlib.h>
#include <sys/mman.h>

#define HUGE_PAGE ((size_t)2 << 20)

/*
 * Allocates len bytes, which the caller frees with free(); NULL: no memory.  A buffer below the
 * size of a huge page is in normal pages.
 */
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
