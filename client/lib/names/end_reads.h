/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * end_reads.h - where an open file ends, read by RDMA from all of its iods at once, and none of
 * them wakes up.  Where they lie comes with the answer to a question for the size.
 */
#ifndef END_READS_H
#define END_READS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "client/lib/session/fan.h"

struct end_places;

/* Zero at the start. */
struct end_reads {
	_Atomic(struct end_places *)
		places; /* one a server; made when the first is told */
};
/* Nobody uses them. */
void end_reads_close(struct end_reads *reads);

/*
 * As size_ask() of all servers: without a message where that can be, and else the
 * answers tell where they can be read the next time.  reads NULL: always asks.
 */
int end_reads_size(struct end_reads *reads, struct session *s, uint64_t handle,
		   const struct dist *dist, struct file_size *size);
/* Only where no message is needed. */
bool end_reads_try(struct end_reads *reads, struct session *s,
		   const struct dist *dist, struct file_size *size);

#endif
