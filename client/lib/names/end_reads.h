/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * end_reads.h - reads the size of an open file by RDMA from all of its iods concurrently,
 * without waking a thread of an iod.  An iod's reply to GETSIZE contains the address of the
 * object's size, which later calls read.
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
 * Gets the size of the file from all of its iods, as size_ask() does.  Reads the sizes by RDMA if
 * the addresses are known.  Otherwise sends messages, whose replies contain the addresses for the
 * next call.  If `reads` is NULL, always sends messages.
 */
int end_reads_size(struct end_reads *reads, struct session *s, uint64_t handle,
		   const struct dist *dist, struct file_size *size);
/* end_reads_size() by RDMA only.  Returns false, with *size unset, if that is not possible. */
bool end_reads_try(struct end_reads *reads, struct session *s,
		   const struct dist *dist, struct file_size *size);

#endif
