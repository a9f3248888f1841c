/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fiber.h - a function with its own stack. It can stop in the middle and continue later, also on
 * another thread.
 *
 *	fiber_enter() ---> run(arg) ... fiber_leave()
 *	      <----------------------------+
 *	fiber_enter() ---------------------> ... returns
 *	      <-------------------------------------+      true
 *
 * Switching needs no system call. A function that may stop must not rely on its thread:
 * thread-local variables and errno may differ afterwards. It must hold no mutex while it is
 * stopped.
 */
#ifndef FIBER_H
#define FIBER_H

#include <stdbool.h>

struct fiber;

/* Bytes of a stack. Only pages that are used take memory. There is a guard page below the stack. */
#define FIBER_STACK (256u << 10)

/* Returns a fiber without a function, or NULL if there is no memory. */
struct fiber *fiber_new(void);
/* The fiber must not be inside a function. */
void fiber_free(struct fiber *fiber);
/* Sets the function that the next fiber_enter() starts. The fiber must not be inside a function. */
void fiber_begin(struct fiber *fiber, void (*run)(void *arg), void *arg);
/*
 * Runs the fiber on the caller's thread until it leaves (false) or its function returns (true). One
 * thread at a time; must not be called from within a fiber.
 */
bool fiber_enter(struct fiber *fiber);
/*
 * The function of the fiber calls this to return control to the caller of fiber_enter(). It returns
 * at the next fiber_enter().
 */
void fiber_leave(struct fiber *fiber);

#endif
