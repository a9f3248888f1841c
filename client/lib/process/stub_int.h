/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stub_int.h - the kernel object of our descriptors.  It accepts no ordinary I/O, even
 * after an exec or when reopened (/dev/stdout), so that no data is lost silently.
 */
#ifndef STUB_INT_H
#define STUB_INT_H

#include <stdbool.h>
#include <sys/types.h>

/* The stub of a process; all its descriptors are copies of this one. */
struct stub {
	int fd; /* -1: not created yet */
	dev_t dev; /* identity of fd: the program may have closed it, */
	ino_t ino; /* and the number may belong to another file */
};

void stub_init(struct stub *stub);
/* Returns a new descriptor with the lowest free number, or -errno. */
int stub_reserve(struct stub *stub, bool cloexec);

#endif
