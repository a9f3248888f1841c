/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * inherit.h - reads what the previous program of this process, or the parent process, wrote
 * about its open files (handover.h), and opens these files again.
 */
#ifndef INHERIT_H
#define INHERIT_H

#include "client/lib/process/fdtable_int.h"

struct inherited; /* the state that was found */

/*
 * Looks for a handover record among the descriptors, without asking a server.  Returns NULL if
 * there is none, or if another process could have written it.
 */
struct inherited *inherit_find(void);
/*
 * Enters the files of in into the table t and the n file systems fs, and frees in.  Returns
 * true if this process itself had some of the files open before exec(2).  The caller then
 * makes the new session adopt them soon, before the servers end the earlier one.
 */
bool inherit_take(struct inherited *in, struct fdtable *t, struct fs *fs,
		  unsigned int n);

#endif
