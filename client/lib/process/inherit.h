/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * inherit.h - the open files that the program before left in this process, or those of
 * the process that made it: what handover.h describes, as it is found by who comes after.
 */
#ifndef INHERIT_H
#define INHERIT_H

#include "client/lib/process/fdtable_int.h"

struct inherited; /* what was found */

/* NULL: nothing was handed over, or it is not to be trusted.  Asks nobody. */
struct inherited *inherit_find(void);
/*
 * Puts the files into the tables, those of fs[n]; frees in.  True: some were this
 * process' own, and the servers should soon hear that it lives on.
 */
bool inherit_take(struct inherited *in, struct fdtable *t, struct fs *fs,
		  unsigned int n);

#endif
