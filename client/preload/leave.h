/* SPDX-License-Identifier: BSD-2-Clause */
/* leave.h - the end of a program by exec(), which may fail. */
#ifndef LEAVE_H
#define LEAVE_H

struct self;

/*
 * Called before exec(): ends what this process has at the servers.  All calls then go to
 * the kernel until leave_failed().  NULL: there is nothing to end, or this is a child
 * that shares its parent's memory.  Keeps errno.
 */
struct self *leave_begin(void);
/* Called if exec() failed: bypassing starts again when it is worthwhile.  NULL is permitted. */
void leave_failed(struct self *left);

#endif
