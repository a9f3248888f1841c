/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stub_int.h - what the kernel has under a descriptor of ours: something that
 * takes no ordinary I/O, not even behind an exec or opened anew (/dev/stdout),
 * so that no data goes where nobody will find it.
 */
#ifndef STUB_INT_H
#define STUB_INT_H

#include <stdbool.h>
#include <sys/types.h>

/* Of a process; all its descriptors are copies of this one. */
struct stub {
	int fd; /* -1: none yet */
	dev_t dev; /* the program may have closed it, */
	ino_t ino; /* and given the number to another file */
};

void stub_init(struct stub *stub);
/* A new descriptor, the lowest number; -errno. */
int stub_reserve(struct stub *stub, bool cloexec);

#endif
