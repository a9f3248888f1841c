/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * inherit.h - the open files that the previous program left in this process, or in its
 * parent process: the reader's side of handover.h.
 */
#ifndef INHERIT_H
#define INHERIT_H

#include "client/lib/process/fdtable_int.h"

struct inherited; /* the state that was found */

/* NULL: nothing was handed over, or it cannot be trusted.  Asks no server. */
struct inherited *inherit_find(void);
/*
 * Enters the files into the table t and the file systems fs[n].  Frees in.  True: some
 * files belong to this process itself, so the servers should soon hear that it continues.
 */
bool inherit_take(struct inherited *in, struct fdtable *t, struct fs *fs,
		  unsigned int n);

#endif
