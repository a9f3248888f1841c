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

/* roots_begin() starts to serve roots.  Before it, all calls go to the kernel. */
void roots_begin(void);
bool roots_begun(void);
/* Whether the tables of this folder belong to this process.  False in a child of vfork(). */
bool roots_in_own_process(void);

static inline bool roots_known_none(void)
{
	return atomic_load_explicit(&roots_state, memory_order_relaxed) ==
	       ROOTS_NONE;
}
/*
 * Whether the library serves paths below any mount point (root) itself.  Reads pvfstab if
 * necessary.
 */
bool roots_exist(void);

/*
 * Returns false if path certainly leads to no root.  Costs no system call, so true is only a guess.
 */
bool roots_may_include(const char *path);
/* Whether path, absolute or relative, is below a root that the library serves. */
bool roots_include(const char *path);

/* Called after the kernel's current directory of the process has changed. */
void roots_check_cwd(void);
/* Whether the kernel's current directory is below a root. */
bool roots_include_cwd(void);

#endif
