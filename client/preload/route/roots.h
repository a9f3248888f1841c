/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * roots.h - the roots: the directories in the lines of pvfstab.  This library serves a root only if
 * nothing is mounted on it.
 *
 * The library reads pvfstab and the list of mounts once, at the first call that may concern a root.
 */
#ifndef ROOTS_H
#define ROOTS_H

#include <stdatomic.h>
#include <stdbool.h>

/* ROOTS_NONE: no root is served, or roots_begin() was not called. */
enum roots_state { ROOTS_UNKNOWN, ROOTS_NONE, ROOTS_SOME };
extern atomic_int roots_state; /* an enum roots_state */

/* Before it, all calls go to the kernel. */
void roots_begin(void);
bool roots_begun(void);
/* True: the tables of this folder belong to this process.  False in a child of vfork(). */
bool roots_in_own_process(void);

static inline bool roots_known_none(void)
{
	return atomic_load_explicit(&roots_state, memory_order_relaxed) ==
	       ROOTS_NONE;
}
/* True: a root is served.  Reads pvfstab if necessary. */
bool roots_exist(void);

/* False: path leads to no root.  True: it may do so (a guess that costs no system call). */
bool roots_may_include(const char *path);
/* True: path is below a root that is served.  path is absolute or relative. */
bool roots_include(const char *path);

/* Called after the kernel's current directory of the process has changed. */
void roots_check_cwd(void);
/* True: that directory is below a root. */
bool roots_include_cwd(void);

#endif
