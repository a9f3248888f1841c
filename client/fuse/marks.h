/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * marks.h - which files programs must not go past the mount for: the kernel may have
 * pages of them, which it would not hear of a write, or there are locks on them,
 * which are lost with this daemon's session, or they have set-id bits, which a write
 * takes away.  Programs see them in a page that they share with us (shortcut.h).
 *
 *	first page read, first lock, bits --> marked --> nobody has it open any more
 */
#ifndef MARKS_H
#define MARKS_H

#include "client/lib/file/file.h"
#include "client/preload/shortcut.h"

struct marks;

/* NULL: no memory, or no place for the file: nobody goes past the mount. */
struct marks *marks_new(const struct log *log);
/* Takes the file away. */
void marks_free(struct marks *m);
/* For who goes past the mount; what is written there comes before the mount. */
struct shortcut_page *marks_page(struct marks *m);
const char *marks_path(const struct marks *m);

/* From now on, until the last release of it; m may be NULL. */
void marks_set(struct marks *m, uint64_t handle);
bool marks_is(struct marks *m, uint64_t handle);
/* An open file of handle was let go. */
void marks_released(struct marks *m, struct fs *fs, uint64_t handle);

#endif
