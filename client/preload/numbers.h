/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * numbers.h - which descriptor numbers stand for files of a mount: a guess that costs
 * one load, and that only costs time where it is wrong.  Who thinks that a number is
 * ours asks the kernel each time (ident.h); one that is thought not to be is looked
 * at again after some calls, or for a large one, since numbers are used again.
 */
#ifndef NUMBERS_H
#define NUMBERS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#define NUMBERS 65536u /* above them everything goes the kernel's way */
#define NUMBER_OURS 255u
#define NUMBER_LOOK 0u /* else: so many calls until the next look */
#define NUMBER_CALLS 64u
#define NUMBER_LARGE (256u << 10)

extern atomic_uchar numbers[NUMBERS];
/* libc has asynchronous appends of that number, or had some. */
extern atomic_uchar number_appended[NUMBERS];

static inline bool number_is_ours(int fd)
{
	return (unsigned int)fd < NUMBERS &&
	       atomic_load_explicit(&numbers[fd], memory_order_relaxed) ==
		       NUMBER_OURS;
}

/* False: the kernel's way.  True: ask desc.h. */
static inline bool number_may(int fd, size_t n)
{
	unsigned char v;

	if ((unsigned int)fd >= NUMBERS)
		return false;
	v = atomic_load_explicit(&numbers[fd], memory_order_relaxed);
	if (v == NUMBER_OURS || v == NUMBER_LOOK || n >= NUMBER_LARGE)
		return true;
	atomic_store_explicit(&numbers[fd], v - 1, memory_order_relaxed);
	return false;
}

static inline void number_set(int fd, bool ours)
{
	atomic_store_explicit(&numbers[fd], ours ? NUMBER_OURS : NUMBER_CALLS,
			      memory_order_relaxed);
}

/* It may stand for something else from now on. */
static inline void number_closed(int fd)
{
	if ((unsigned int)fd >= NUMBERS)
		return;
	atomic_store_explicit(&numbers[fd], NUMBER_LOOK, memory_order_relaxed);
	atomic_store_explicit(&number_appended[fd], 0, memory_order_relaxed);
}

static inline void number_appends(int fd)
{
	atomic_store_explicit(&number_appended[fd], 1, memory_order_relaxed);
}

#endif
