/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * desc.h - descriptors of files on a mount, and the files that our own session has open
 * for them.
 *
 * 	cold -- enough calls or bytes --> opening --> open
 * 	  ^                                  '------> never
 * 	  '------ the number refers to another file ----'
 *
 * No state of an earlier call is trusted: each call asks the kernel for the file of the
 * number and its flags.  A file that is no longer needed is closed by the next call on
 * the number, by close(), or within a second by a thread.
 */
#ifndef DESC_H
#define DESC_H

#include "client/preload/door.h"

struct desc;

/* A call on a descriptor. */
struct use {
	int fd;
	int flags; /* present flags of open(2) */
	struct door *door;
	/* valid until desc_end(); NULL: the time of the call has passed */
	struct file *f;
	struct desc *desc;
};

/*
 * Begins a call for n bytes.  False: use the kernel.  True without a file: the time of
 * the call has passed, and desc_end() does nothing.
 */
bool desc_begin(int fd, bool write, uint64_t n, struct use *u);
/*
 * The same for operations on all data written to the file: finds the file if it is open,
 * through this number or another one.
 */
bool desc_look(int fd, struct use *u);
/* True: rc means that the session has ended, or lost its rights. */
bool desc_is_over(int rc);
/*
 * The call failed with rc when it bypassed the mount.  Decides whether later calls use
 * the kernel.
 */
void desc_spoil(struct use *u, int rc);
/*
 * Returns the error, once, that fsync must report for data that was written and not
 * flushed when that happened.  Also valid after desc_look() found nothing.  0: none.
 */
int desc_owes(struct use *u);
void desc_end(struct use *u);
/* True: the number still refers to the same file.  Another thread may have closed it. */
bool desc_stands(const struct use *u);

/* Called before the number is closed. */
void desc_close(int fd);
/* Called before the kernel uses its cached size of the file. */
void desc_refresh(int fd);

#endif
