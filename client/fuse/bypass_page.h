/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bypass_page.h - files for which programs must not bypass the mount.  The kernel may have
 * pages of the file, and would not notice the write.  Or the file has locks, which are
 * lost with this daemon's session.  Or it has set-id bits, which a write removes.
 * Programs read the marks in a page that they share with the daemon (shortcut.h).
 *
 *	first page read, first lock, bits --> marked --> last close
 */
#ifndef BYPASS_PAGE_H
#define BYPASS_PAGE_H

#include "client/lib/file/file.h"
#include "client/preload/shortcut.h"

struct bypass_page;

/* NULL: no memory, or no place for the file (logged): no program bypasses the mount. */
struct bypass_page *bypass_page_new(const struct log *log);
/* Removes the file. */
void bypass_page_free(struct bypass_page *m);
/*
 * The page for programs that bypass the mount.  The caller fills it before the mount
 * exists.
 */
struct shortcut_page *marks_page(struct bypass_page *m);
const char *bypass_page_path(const struct bypass_page *m);

/* Marks the file until its last release; m may be NULL. */
void bypass_page_forbid(struct bypass_page *m, uint64_t handle);
bool bypass_page_is_forbidden(struct bypass_page *m, uint64_t handle);
/* Called when an open file of handle was released. */
void bypass_page_release(struct bypass_page *m, struct fs *fs, uint64_t handle);

#endif
