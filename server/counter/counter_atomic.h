/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * counter_atomic.h - the counters of one file that clients change by RDMA atomics.
 *
 * A counter that is lent lies in a word of its own, registered for this counter alone.  While it
 * is lent, only the device changes the word, because the device's atomics are not atomic with the
 * processor's.  The page of the file says that the counter is lent, so after a crash the next
 * process continues at its ceiling.  A client may use a value below a ceiling that it received,
 * because this ceiling is on the disk.
 *
 * The caller owns the struct (zeroed at first) and serialises the calls; map is the page of the
 * same file and must be mapped.
 */
#ifndef COUNTER_ATOMIC_H
#define COUNTER_ATOMIC_H

#include "common/transport/transport.h"
#include "server/counter/counter.h"
#include "server/counter/counter_page.h"

struct counter_atomic {
	uint64_t *word; /* the value; NULL: not lent */
	struct tp_mr *mr;
	uint64_t retry_at; /* not lent before, clock_now() */
	unsigned int revocations;
};
struct counter_atomics {
	struct counter_atomic slot[WIRE_COUNTERS];
};

static inline bool counter_atomic_is_lent(const struct counter_atomics *atomics,
					  unsigned int number)
{
	return atomics->slot[number].word;
}
/*
 * Reads a counter that is lent; it stays lent.  A value that was returned must not exceed the
 * ceiling on disk.  If the value is higher, raises the ceiling first, which blocks on the disk;
 * with quick, returns -EAGAIN instead.  Other errors are those of counter_page_set_ceiling().
 */
int counter_atomic_read(const struct counter_atomics *atomics,
			struct counter_map *map, unsigned int number,
			bool quick, int64_t *value);
/* Revokes the loan: no device changes the counter any more, and its value is in the page. */
void counter_atomic_revoke(struct counter_atomics *atomics,
			   struct counter_map *map, unsigned int number);
void counter_atomic_revoke_all(struct counter_atomics *atomics,
			       struct counter_map *map);
/* As counter_lend_to_device(). */
int counter_atomic_lend(struct counter_atomics *atomics,
			struct counter_map *map,
			const struct counter_loan_request *request,
			struct counter_loan *loan);

#endif
