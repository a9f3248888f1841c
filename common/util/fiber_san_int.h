/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fiber_san_int.h - tells the sanitizers about each switch between stacks. Without sanitizers these
 * functions are empty.
 */
#ifndef FIBER_SAN_INT_H
#define FIBER_SAN_INT_H

#include <stddef.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FIBER_ASAN
#endif
#if __has_feature(thread_sanitizer)
#define FIBER_TSAN
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define FIBER_ASAN
#endif
#ifdef __SANITIZE_THREAD__
#define FIBER_TSAN
#endif

#ifdef FIBER_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef FIBER_TSAN
#include <sanitizer/tsan_interface.h>
#endif

struct fiber_san {
	/* AddressSanitizer: state of both sides, and the outer stack */
	void *inner, *outer;
	const void *outer_stack;
	size_t outer_size;
	/* ThreadSanitizer */
	void *self, *thread;
};

static inline void fiber_san_new(struct fiber_san *s)
{
	*s = (struct fiber_san){ 0 };
#ifdef FIBER_TSAN
	s->self = __tsan_create_fiber(0);
#endif
}

static inline void fiber_san_free(struct fiber_san *s, void *stack, size_t size)
{
	(void)s;
	(void)stack;
	(void)size;
#ifdef FIBER_ASAN
	/* the next mapping at this address must not inherit poisoned frames */
	__asan_unpoison_memory_region(stack, size);
#endif
#ifdef FIBER_TSAN
	__tsan_destroy_fiber(s->self);
#endif
}

/* Before the jump in, and after it. */
static inline void fiber_san_enter(struct fiber_san *s, const void *stack,
				   size_t size)
{
	(void)s;
	(void)stack;
	(void)size;
#ifdef FIBER_ASAN
	__sanitizer_start_switch_fiber(&s->outer, stack, size);
#endif
#ifdef FIBER_TSAN
	s->thread = __tsan_get_current_fiber();
	__tsan_switch_to_fiber(s->self, 0);
#endif
}

static inline void fiber_san_inside(struct fiber_san *s)
{
	(void)s;
#ifdef FIBER_ASAN
	__sanitizer_finish_switch_fiber(s->inner, &s->outer_stack,
					&s->outer_size);
#endif
}

/* Before the jump out, and after it. */
static inline void fiber_san_leave(struct fiber_san *s)
{
	(void)s;
#ifdef FIBER_ASAN
	__sanitizer_start_switch_fiber(&s->inner, s->outer_stack,
				       s->outer_size);
#endif
#ifdef FIBER_TSAN
	__tsan_switch_to_fiber(s->thread, 0);
#endif
}

static inline void fiber_san_outside(struct fiber_san *s)
{
	(void)s;
#ifdef FIBER_ASAN
	__sanitizer_finish_switch_fiber(s->outer, NULL, NULL);
#endif
}

#endif
