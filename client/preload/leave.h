/* SPDX-License-Identifier: BSD-2-Clause */
/* leave.h - the end of a program by exec(), which may fail. */
#ifndef LEAVE_H
#define LEAVE_H

struct self;

/*
 * Before exec(): what this process has at the servers ends, and all calls go the kernel's
 * way until leave_failed().  NULL: it has nothing, or is a child that
 * shares our memory.  errno stays.
 */
struct self *leave_begin(void);
/* It begins anew, when it pays.  NULL: nothing. */
void leave_failed(struct self *left);

#endif
