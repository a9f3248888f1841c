/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * wrote.h - what became of what was written past the mount: the servers tell it this process'
 * session alone, also when the number that wrote it was closed meanwhile.
 */
#ifndef WROTE_H
#define WROTE_H

#include "client/preload/desc.h"

/* Some file of that slot was written to; one that was not only costs time. */
extern atomic_uchar wrote[SHORTCUT_SLOTS];

static inline void wrote_note(uint64_t handle)
{
	atomic_uchar *slot = &wrote[shortcut_slot(handle)];

	if (!atomic_load_explicit(slot, memory_order_relaxed))
		atomic_store_explicit(slot, 1, memory_order_relaxed);
}

/* In a child after fork(): it was its parent. */
void wrote_forked(void);
/* The number stands for such a file. */
bool wrote_is(int fd);
/* As desc_look(), where nothing of the file is open any more: it is opened for this. */
bool wrote_look(int fd, struct use *u);
/*
 * Behind a flush by the mount, which ended with rc (0 or -errno): that, or what the servers
 * tell us; the mount, which has not heard of it, is told for all who have the file open there.
 */
int wrote_sync(struct use *u, int rc);

#endif
