/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * adopt_int.h - what the program before had open and locked in this process becomes the
 * present session's.
 */
#ifndef ADOPT_INT_H
#define ADOPT_INT_H

#include "client/lib/file/file.h"

/*
 * Files with an heir are open under s from now on, with their locks, as far as the mgr
 * still knows of it; then the sessions before (fs->before) end.  -errno: it is to be
 * done again, which spoils nothing.
 */
int adopt_all(struct fs *fs, struct session *s);

#endif
