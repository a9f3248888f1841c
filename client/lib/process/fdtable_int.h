/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fdtable_int.h - which descriptor is which open file.  The numbers are real
 * ones: each is held by a stub, so that nobody else gets it.
 */
#ifndef FDTABLE_INT_H
#define FDTABLE_INT_H

#include <pthread.h>

#include "client/lib/file/file.h"
#include "client/lib/file/handover.h"
#include "client/lib/process/stub_int.h"

struct fdtable {
	pthread_mutex_t lock; /* all below */
	struct file **file; /* by number */
	int n;
	struct stub stub;
	struct handover handover;
};

void fdtable_init(struct fdtable *t);
/* Takes out every file and gives fn the table's reference. */
void fdtable_empty(struct fdtable *t, void (*fn)(struct file *f));

/* The file, the caller's to file_put(), or NULL. */
struct file *fdtable_get(struct fdtable *t, int fd);
/*
 * The number stands for f from now on, or (f NULL) for nothing of ours; takes
 * the caller's reference.  *old: what it stood for before, or NULL, the
 * caller's to file_put().  0 or -ENOMEM.
 */
int fdtable_set(struct fdtable *t, int fd, struct file *f, struct file **old);

/* What there is to hand over of fd has changed. */
void fdtable_look(struct fdtable *t, int fd);
/* In a child after fork(), with one thread, behind file_forked(). */
void fdtable_forked(struct fdtable *t);

/* Reserves a descriptor number.  -errno. */
int fdtable_reserve(struct fdtable *t, bool cloexec);

#endif
