/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fiber.c - makecontext() creates the first frame of the stack; later switches are jumps.
 * swapcontext() would cost two system calls for a signal mask that does not change.
 */

/* The checked longjmp() reports a jump to another stack as an error. */
#undef _FORTIFY_SOURCE

#include "common/util/fiber.h"

#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

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

/* ---- sanitizers learn of each switch between stacks; without them, these are empty ---- */

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

/* ---- the fiber ---- */

struct fiber {
	char *stack; /* FIBER_STACK, above a guard page */
	size_t guard;
	void (*run)(void *arg);
	void *arg;
	bool made, over;
	ucontext_t first;
	jmp_buf inside, outside;
	struct fiber_san san;
};

/* ---- switching ---- */

void fiber_leave(struct fiber *f)
{
	if (_setjmp(f->inside)) {
		fiber_san_inside(&f->san);
		return;
	}
	fiber_san_leave(&f->san);
	_longjmp(f->outside, 1);
}

/* Runs one function after the other, until the stack is freed. */
static void fiber_main(unsigned int high, unsigned int low)
{
	struct fiber *f = (struct fiber *)(uintptr_t)((uint64_t)high << 32 |
						      low);

	fiber_san_inside(&f->san);
	for (;;) {
		f->run(f->arg);
		f->over = true;
		fiber_leave(f);
	}
}

/* makecontext() passes int arguments only. */
static void make_context(struct fiber *f)
{
	uint64_t self = (uintptr_t)f;

	getcontext(&f->first);
	f->first.uc_stack.ss_sp = f->stack;
	f->first.uc_stack.ss_size = FIBER_STACK;
	makecontext(&f->first, (void (*)(void))fiber_main, 2,
		    (unsigned int)(self >> 32), (unsigned int)self);
}

bool fiber_enter(struct fiber *f)
{
	if (!_setjmp(f->outside)) {
		fiber_san_enter(&f->san, f->stack, FIBER_STACK);
		if (f->made)
			_longjmp(f->inside, 1);
		f->made = true;
		setcontext(&f->first);
	}
	fiber_san_outside(&f->san);
	return f->over;
}

/* ---- creation and end ---- */

static bool stack_make(struct fiber *f)
{
	char *m;

	f->guard = (size_t)sysconf(_SC_PAGESIZE);
	m = mmap(NULL, f->guard + FIBER_STACK, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1,
		 0);
	if (m == MAP_FAILED)
		return false;
	if (mprotect(m, f->guard, PROT_NONE)) {
		munmap(m, f->guard + FIBER_STACK);
		return false;
	}
	f->stack = m + f->guard;
	return true;
}

struct fiber *fiber_new(void)
{
	struct fiber *f = calloc(1, sizeof(*f));

	if (!f || !stack_make(f)) {
		free(f);
		return NULL;
	}
	make_context(f);
	fiber_san_new(&f->san);
	return f;
}

void fiber_free(struct fiber *f)
{
	fiber_san_free(&f->san, f->stack, FIBER_STACK);
	munmap(f->stack - f->guard, f->guard + FIBER_STACK);
	free(f);
}

void fiber_begin(struct fiber *f, void (*run)(void *arg), void *arg)
{
	f->run = run;
	f->arg = arg;
	f->over = false;
}
