/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * desc.h - descriptors of a mount's files, and what our own session has open for them.
 *
 *	cold -- enough calls or bytes --> opening --> open
 *	  ^                                  '------> never
 *	  '------ the number stands for something else -'
 *
 * Nothing is believed of the last call: each asks the kernel which file the number
 * stands for and with which flags.  What was open for something that is gone is closed by
 * the next call on the number, by close(), or within a second by a thread.
 */
#ifndef DESC_H
#define DESC_H

#include "client/preload/door.h"

struct desc;

/* A call on a descriptor. */
struct use {
	int fd;
	int flags; /* of open(2), as they are now */
	struct door *door;
	struct file *f; /* the caller's until desc_end(); NULL: late */
	struct desc *desc;
};

/*
 * False: the kernel's way.  n: bytes that the call is about.  Without a file: the time
 * of the call is over, and desc_end() does nothing.
 */
bool desc_begin(int fd, bool write, uint64_t n, struct use *u);
/* The same for what concerns all that was written to the file, if that is open anyway: by
 * this number, or by another one. */
bool desc_look(int fd, struct use *u);
/* rc says that the session is at its end, or has no right to go on. */
bool desc_is_over(int rc);
/* The call failed with rc our way: is that one for later calls? */
void desc_spoil(struct use *u, int rc);
/* What was written and not flushed when that happened fsync has to tell: once. Also when
 * desc_look() found nothing. 0: nothing, or the error. */
int desc_owes(struct use *u);
void desc_end(struct use *u);
/* The number stands for the same file still: others may have closed it meanwhile. */
bool desc_stands(const struct use *u);

/* The number is about to be closed. */
void desc_close(int fd);
/* The kernel is about to use what it knows of the file's size. */
void desc_refresh(int fd);

#endif
