/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * waits.h - requests for locks that others hold.  One thread asks the mgr for all
 * of them at once; the kernel's FUSE_INTERRUPT ends a wait, and before its process
 * hears of that the mgr has forgotten it.
 */
#ifndef WAITS_H
#define WAITS_H

#include "client/fuse/call.h"

/* At a time; beyond that ENOLCK. */
#define WAITS_MAX 4096u

struct waits;

/* With its thread; NULL: no resources. */
struct waits *waits_new(struct fsd *d);
/* While the requests of those who wait can still be answered: with EINTR. */
void waits_free(struct waits *ws);

/*
 * Answers c when want is taken, or when the wait ends otherwise: 0.  -ENOLCK: there
 * are too many, and nothing is answered.  session: in which it was not free.
 */
int waits_begin(const struct call *c, struct file *f,
		const struct mgr_lock *want, uint64_t session);

#endif
