/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * again.h - what the kernel asks again, within one system call, when it was told
 * that it took too long: a name that it knew, and a page.  The call is to end by
 * its deadline and not by two or three, so it is told the same once more.
 * Likewise an open of what has no name any more (op_open()).
 */
#ifndef AGAIN_H
#define AGAIN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct again;

/* NULL: there is no memory. */
struct again *again_new(void);
void again_free(struct again *a);

/* The thread was told ETIMEDOUT, or ESTALE, for what. */
void again_note(struct again *a, pid_t thread, uint64_t what);

/* It was so, and a moment ago. */
bool again_is(struct again *a, pid_t thread, uint64_t what);

/* A number for a name in a directory. */
uint64_t again_name(uint64_t dir, const char *name);

#endif
