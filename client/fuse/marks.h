/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * marks.h - files for which programs must not bypass the mount.  The kernel may have
 * pages of the file, and would not notice the write.  Or the file has locks, which are
 * lost with this daemon's session.  Or it has set-id bits, which a write removes.
 * Programs read the marks in a page that they share with the daemon (shortcut.h).
 *
 *	first page read, first lock, bits --> marked --> last close
 */
#ifndef MARKS_H
#define MARKS_H

#include "client/lib/file/file.h"
#include "client/preload/shortcut.h"

struct marks;

/* NULL: no memory, or no place for the file (logged): no program bypasses the mount. */
struct marks *marks_new(const struct log *log);
/* Removes the file. */
void marks_free(struct marks *m);
/*
 * The page for programs that bypass the mount.  The caller fills it before the mount
 * exists.
 */
struct shortcut_page *marks_page(struct marks *m);
const char *marks_path(const struct marks *m);

/* Marks the file until its last release; m may be NULL. */
void marks_set(struct marks *m, uint64_t handle);
bool marks_is(struct marks *m, uint64_t handle);
/* Called when an open file of handle was released. */
void marks_released(struct marks *m, struct fs *fs, uint64_t handle);

#endif
