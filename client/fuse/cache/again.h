/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * again.h - requests that the kernel repeats within one system call after ETIMEDOUT: a
 * lookup of a name that it knew, and a read of a page.  The call must end by its
 * deadline, not after two or three of them, so the repeated request gets the same
 * reply.  The same table serves opens of objects that have no name any more
 * (op_open()).
 */
#ifndef AGAIN_H
#define AGAIN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct again;

/* NULL: no memory. */
struct again *again_new(void);
void again_free(struct again *a);

/* Records that the thread gets ETIMEDOUT, or ESTALE, for what. */
void again_note(struct again *a, pid_t thread, uint64_t what);

/* True: again_note() recorded the same a moment ago. */
bool again_is(struct again *a, pid_t thread, uint64_t what);

/* Returns a number for a name in a directory. */
uint64_t again_name(uint64_t dir, const char *name);

#endif
