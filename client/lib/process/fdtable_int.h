/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fdtable_int.h - the open file of each descriptor.  The numbers are real descriptors: a
 * stub occupies each, so that no other file gets the number.
 */
#ifndef FDTABLE_INT_H
#define FDTABLE_INT_H

#include <sys/types.h>
#include <stdbool.h>
#include <pthread.h>

#include "client/lib/file/file.h"
#include "client/lib/file/handover.h"

/*
 * The kernel object behind all our descriptors, which are duplicates of fd.  read(2) and
 * write(2) on it fail, even after an exec or if a program reopens it (/dev/stdout).  So no
 * data is lost silently.
 */
struct stub {
	int fd; /* -1: not created yet */
	dev_t dev; /* identity of fd: the program may have closed it, */
	ino_t ino; /* and the number may belong to another file */
};

struct fdtable {
	pthread_mutex_t lock; /* protects all below */
	struct file **file; /* indexed by descriptor number */
	int n;
	struct stub stub;
	struct handover handover;
};

void fdtable_init(struct fdtable *t);
/* Empties the table, and passes the table's reference to each file to fn. */
void fdtable_empty(struct fdtable *t, void (*fn)(struct file *f));

/* Returns the file with a reference; the caller calls file_put().  NULL: none. */
struct file *fdtable_get(struct fdtable *t, int fd);
/*
 * Records that fd refers to f, and takes over the caller's reference; f NULL: fd refers to no
 * PVFS file.  Sets *old to the previous file of fd, for which the caller calls file_put(), or
 * NULL.  Returns 0 or -ENOMEM.
 */
int fdtable_set(struct fdtable *t, int fd, struct file *f, struct file **old);

/* Updates the handover record of fd after a change. */
void fdtable_look(struct fdtable *t, int fd);
/* In a child after fork(), which has one thread, after file_forked(). */
void fdtable_forked(struct fdtable *t);

/* Reserves a descriptor number.  Returns it, or -errno. */
int fdtable_reserve(struct fdtable *t, bool cloexec);

#endif
