/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * atomics.h - counters of an open file that the client adds to by RDMA atomics, where the
 * iod tells where they lie (PLACE).
 *
 * Nobody knows whether an atomic was done whose connection broke: it is never made
 * again, and its number is left out.  One that was refused was not done.
 */
#ifndef ATOMICS_H
#define ATOMICS_H

#include <stdatomic.h>
#include <stdint.h>

#include "common/wire/wire.h"

struct session;
struct word;

/* Zero at the start. */
struct words {
	_Atomic(struct word *) word[WIRE_COUNTERS]; /* made when it is used */
};
/* Nobody uses them. */
void words_close(struct words *words);

struct word_add {
	uint64_t handle;
	uint32_t iod; /* that keeps it: its number */
	unsigned int number; /* below WIRE_COUNTERS */
	int64_t add;
};
/*
 * 0: it was added, *old is what it was before.  -EAGAIN: by message, nothing was done.
 * -ECONNABORTED, -ETIMEDOUT: done or not.
 */
int words_add(struct words *words, struct session *s,
	      const struct word_add *add, int64_t *old);

#endif
