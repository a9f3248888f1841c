/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * inflight_io.h - READs of pages and WRITEs in flight, to find those that overlap.
 *
 * A write(2) changes the kernel's page, unlocks it, and sends us the bytes.  Meanwhile
 * the kernel may drop that page, because the file has another time, and read it again.
 * The reply stays in the page after the write returned, with the old bytes.  So a READ
 * that overlaps a WRITE in time is not answered with its result: it is repeated after
 * the WRITE.
 *
 *	writer  changes the page |---------- WRITE ----------|
 *	another     drops it, reads |-- READ --| (discarded)  |-- READ --| answered
 *
 * A READ that was answered before the WRITE came cannot be corrected.
 */
#ifndef INFLIGHT_IO_H
#define INFLIGHT_IO_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

struct inflight_io;

/*
 * A READ of pages, or a WRITE, from the kernel's request to the reply.  The caller owns
 * it, and sets the first three fields.
 */
struct io_range {
	uint64_t file; /* handle */
	uint64_t from, to; /* bytes [from, to) of the file */

	bool write, overtaken; /* private, like all below */
	LIST_ENTRY(io_range) link;
};

/* Returns NULL if there is no memory. */
struct inflight_io *inflight_io_new(void);
void inflight_io_free(struct inflight_io *io);

/*
 * Called before pages are read: waits for running writes to them.  Returns 0; or
 * -ETIMEDOUT at `until` (clock_now()), then the read has not started.
 */
int inflight_io_read_start(struct inflight_io *io, struct io_range *x,
			   uint64_t until);
/*
 * Called after the read.  Returns false if a write to the pages came meanwhile: they
 * must be read again.  The kernel locks a page that it reads, so such writes are only
 * those that had changed it before.
 */
bool inflight_io_read_end(struct inflight_io *io, struct io_range *x);

/*
 * Called around a write, from before its start until before the reply.  The position of
 * an append is not known.  Its range begins where the kernel believes the end to be,
 * which is in the last page that the kernel reads or after it.  It ends at the highest
 * offset.
 */
void inflight_io_write_start(struct inflight_io *io, struct io_range *x);
void inflight_io_write_end(struct inflight_io *io, struct io_range *x);

#endif
