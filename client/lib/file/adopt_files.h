/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * adopt_files.h - moves what the previous program in this process had open and locked to
 * the present session.
 */
#ifndef ADOPT_FILES_H
#define ADOPT_FILES_H

#include "client/lib/file/file.h"

/*
 * Moves the files that have an heir to s, with their locks, as far as the manager still
 * knows them.  Then ends the earlier sessions (fs->before).  Returns -errno if the call
 * must be repeated, which is safe.
 */
int adopt_all(struct fs *fs, struct session *s);

#endif
