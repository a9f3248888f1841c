/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tombs.h - the objects that were removed lately.  Handles are never reused.  So a write to one
 * of them was delayed on its way, and would make an object that nobody knows.
 *
 * Bounded: of consecutive handles, the last TOMBS are known.  All functions may be called from
 * any thread.
 */
#ifndef TOMBS_H
#define TOMBS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define TOMBS 65536u

struct tombs {
	_Atomic uint64_t handle[TOMBS]; /* by handle % TOMBS; 0: none */
};

static inline void tombs_add(struct tombs *t, uint64_t handle)
{
	atomic_store(&t->handle[handle % TOMBS], handle);
}

static inline bool tombs_has(struct tombs *t, uint64_t handle)
{
	return handle && atomic_load(&t->handle[handle % TOMBS]) == handle;
}

#endif
