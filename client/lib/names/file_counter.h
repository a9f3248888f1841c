/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * file_counter.h - the counters of an open file: by a message (COUNTER), and with RDMA
 * atomics where the iod lends their address (PLACE).
 *
 * If the connection breaks during an atomic, it is unknown whether it was executed.  The
 * client never repeats it, and its value is skipped.  An atomic that was rejected was not
 * executed.
 */
#ifndef FILE_COUNTER_H
#define FILE_COUNTER_H

#include <stdatomic.h>
#include <stdint.h>

#include "common/wire/wire.h"
#include "common/dist/dist.h"
#include "client/lib/names/mgr_requests.h"

struct session;
struct word;

/* Initialised with zeros. */
struct words {
	_Atomic(struct word *) word[WIRE_COUNTERS]; /* created at first use */
};
/* Frees the words.  No thread uses them. */
void words_close(struct words *words);

struct word_add {
	uint64_t handle;
	uint32_t iod; /* number of the iod that stores the counter */
	unsigned int number; /* below WIRE_COUNTERS */
	int64_t add;
};
/*
 * Adds add->add to the counter by an RDMA atomic, and sets *old to the previous value.  Returns
 * 0; -EAGAIN: nothing was done, and the caller must send a message; -ECONNABORTED, -ETIMEDOUT:
 * unknown whether the counter was changed.
 */
int words_add(struct words *words, struct session *s,
	      const struct word_add *add, int64_t *old);

/* ---- COUNTER at the iod that stores the counter ---- */

struct counter_ask {
	const struct dist *dist;
	struct words *words; /* words of the open file */
	unsigned int number; /* below WIRE_COUNTERS */
	bool set; /* true: set to value; false: add value */
	int64_t value;
	int64_t old; /* previous value */
};
/*
 * A target_op that adds to or sets a counter; arg: struct counter_ask *.  Returns 0 or -errno.
 * -ECONNABORTED, -ETIMEDOUT: unknown whether the counter was changed.
 */
int counter_ask(struct session *s, const struct target *t, void *arg);

#endif
