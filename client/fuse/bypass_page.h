/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bypass_page.h - for programs that bypass the mount for their data (client/preload): a page
 * that they share with the daemon (shortcut.h).  It describes the file system, and marks
 * the files that no program may bypass:
 *
 * - the kernel may have pages of the file, and would not notice the write;
 * - the file has locks, which are lost with this daemon's session;
 * - the file has set-id bits, which a write removes.
 *
 *	first page read, first lock, bits --> marked --> last close
 */
#ifndef BYPASS_PAGE_H
#define BYPASS_PAGE_H

#include "client/fuse/fuse_daemon.h"

struct bypass_page;
struct options;

/*
 * Makes the shared page of the mount that opt describes.  Returns NULL if no program may
 * bypass the mount: the kernel may keep more than programs can see, or the page cannot
 * be made (logged), or is too small.
 */
struct bypass_page *bypass_page_new(const struct fuse_daemon *d,
				    const struct options *opt);
/* Removes the page. */
void bypass_page_free(struct bypass_page *b);
/* Returns the path of the page, which is valid as long as b. */
const char *bypass_page_path(const struct bypass_page *b);

/*
 * Marks the file until its last release.  If it cannot be recorded, it stays marked,
 * which only costs time.  b may be NULL.
 */
void bypass_page_forbid(struct bypass_page *b, uint64_t handle);
/* Returns true if the file is marked, or one that shares its mark. */
bool bypass_page_is_forbidden(struct bypass_page *b, uint64_t handle);
/* Called when an open file of handle was released.  b may be NULL. */
void bypass_page_release(struct bypass_page *b, struct fs *fs, uint64_t handle);

#endif
