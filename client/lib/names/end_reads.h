/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * end_reads.h - the end of an open file, read by RDMA from all of its iods concurrently,
 * without waking a thread there.  The answer to a request for the size reports the places
 * to read.
 */
#ifndef END_READS_H
#define END_READS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "client/lib/session/broadcast.h"

struct end_places;

/* Initialised with zeros. */
struct end_reads {
	/* one for each server; created when the first place is reported */
	_Atomic(struct end_places *) places;
};
/* Frees the places.  No thread uses them. */
void end_reads_close(struct end_reads *reads);

/*
 * As size_ask() of all servers.  Reads the ends by RDMA where possible; otherwise the
 * answers report the places for the next time.  reads NULL: always asks by message.
 */
int end_reads_size(struct end_reads *reads, struct session *s, uint64_t handle,
		   const struct dist *dist, struct file_size *size);
/* The same, but only without a message.  False: a message is needed. */
bool end_reads_try(struct end_reads *reads, struct session *s,
		   const struct dist *dist, struct file_size *size);

#endif
