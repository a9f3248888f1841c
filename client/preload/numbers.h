/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * numbers.h - a guess which descriptor numbers refer to files of a mount.  It costs one
 * load, and a wrong guess only costs time.  If a number is thought to be ours, each call
 * asks the kernel (bypass/ident.h).  Otherwise it is checked again after some calls, or
 * for a large one, because numbers are reused.
 */
#ifndef NUMBERS_H
#define NUMBERS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#define NUMBERS 65536u /* higher numbers always use the kernel */
#define NUMBER_OURS 255u
#define NUMBER_CHECK 0u /* other values: calls until the next check */
#define NUMBER_CALLS 64u
#define NUMBER_LARGE (256u << 10)

extern atomic_uchar numbers[NUMBERS];
/* True: libc has, or had, asynchronous appends of this number. */
extern atomic_uchar number_appended[NUMBERS];

static inline bool number_is_ours(int fd)
{
	return (unsigned int)fd < NUMBERS &&
	       atomic_load_explicit(&numbers[fd], memory_order_relaxed) ==
		       NUMBER_OURS;
}

/* False: use the kernel for n bytes.  True: ask bypass/desc.h. */
static inline bool number_may_be_ours(int fd, size_t n)
{
	unsigned char v;

	if ((unsigned int)fd >= NUMBERS)
		return false;
	v = atomic_load_explicit(&numbers[fd], memory_order_relaxed);
	if (v == NUMBER_OURS || v == NUMBER_CHECK || n >= NUMBER_LARGE)
		return true;
	atomic_store_explicit(&numbers[fd], v - 1, memory_order_relaxed);
	return false;
}

static inline void number_set_ours(int fd, bool ours)
{
	atomic_store_explicit(&numbers[fd], ours ? NUMBER_OURS : NUMBER_CALLS,
			      memory_order_relaxed);
}

/* The number may refer to another file from now on. */
static inline void number_closed(int fd)
{
	if ((unsigned int)fd >= NUMBERS)
		return;
	atomic_store_explicit(&numbers[fd], NUMBER_CHECK, memory_order_relaxed);
	atomic_store_explicit(&number_appended[fd], 0, memory_order_relaxed);
}

static inline bool number_is_appended(int fd)
{
	return atomic_load_explicit(&number_appended[fd], memory_order_relaxed);
}

static inline void number_set_appended(int fd)
{
	atomic_store_explicit(&number_appended[fd], 1, memory_order_relaxed);
}

#endif
