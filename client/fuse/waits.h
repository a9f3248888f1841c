/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * waits.h - requests for locks that others hold.  Each has a thread of its own,
 * since it may last for ever; the kernel's FUSE_INTERRUPT ends it.
 */
#ifndef WAITS_H
#define WAITS_H

#include "call.h"

/* At a time; beyond that ENOLCK. */
#define WAITS_MAX 512u

/*
 * Answers c when want is taken, or when the wait ends otherwise: 0.  -ENOLCK: there
 * are too many, and nothing is answered.
 */
int waits_begin(const struct call *c, struct file *f,
		const struct mgr_lock *want);

#endif
