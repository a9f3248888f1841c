/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bypass_page.h - a page that the daemon shares with programs which bypass the mount for
 * their data (client/preload, shortcut.h).  The page describes the file system, and marks the
 * files whose data must go through the mount for one of these reasons:
 *
 * - The kernel may have pages of the file, and would not notice a write that bypasses it.
 * - The file has locks, which are lost when the daemon's session ends.
 * - The file has set-id bits, which a write must remove.
 *
 *	first page read, first lock, bits --> marked --> last close
 */
#ifndef BYPASS_PAGE_H
#define BYPASS_PAGE_H

#include "client/fuse/fuse_daemon.h"

struct bypass_page;
struct options;

/*
 * Creates the shared page of the mount that opt describes.  Returns NULL if programs must not
 * bypass the mount: because of the options, because the page cannot be created (which is
 * logged), or because it is too small.
 */
struct bypass_page *bypass_page_new(const struct fuse_daemon *d,
				    const struct options *opt);
/* Removes the page. */
void bypass_page_free(struct bypass_page *b);
/* Returns the path of the page, which is valid as long as b. */
const char *bypass_page_path(const struct bypass_page *b);

/*
 * Marks the file until its last open file is released.  Without memory to record that, the file
 * stays marked for ever, which only makes it slower.  b may be NULL.
 */
void bypass_page_forbid(struct bypass_page *b, uint64_t handle);
/* Returns true if the file is marked, or one that shares its mark. */
bool bypass_page_is_forbidden(struct bypass_page *b, uint64_t handle);
/* Called when an open file of handle was released.  b may be NULL. */
void bypass_page_release(struct bypass_page *b, struct fs *fs, uint64_t handle);

#endif
