/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fiber.h - a function with a stack of its own, which can stop in the middle and go
 * on later, also in another thread.
 *
 *	fiber_enter() ---> run(arg) ... fiber_leave()
 *	      <----------------------------+
 *	fiber_enter() ---------------------> ... returns
 *	      <-------------------------------------+      true
 *
 * Neither costs a system call.  A function that may stop must not rely on which
 * thread it is in: not on thread-local variables, nor on errno, from before to
 * after; and it holds no mutex meanwhile.
 */
#ifndef FIBER_H
#define FIBER_H

#include <stdbool.h>

struct fiber;

/* Bytes of a stack; only what is touched takes memory.  Below it is a guard page. */
#define FIBER_STACK (256u << 10)

/* NULL: no memory.  Without a function yet. */
struct fiber *fiber_new(void);
/* It is not inside of a function. */
void fiber_free(struct fiber *fiber);
/* What the next fiber_enter() begins; it is not inside of a function. */
void fiber_begin(struct fiber *fiber, void (*run)(void *arg), void *arg);
/*
 * Runs it on the caller's thread until it leaves or its function returns (true).
 * One thread at a time, and not from within a fiber.
 */
bool fiber_enter(struct fiber *fiber);
/* From inside: back to who entered; returns when it is entered again. */
void fiber_leave(struct fiber *fiber);

#endif
