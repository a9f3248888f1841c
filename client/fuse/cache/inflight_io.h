/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * inflight_io.h - READs of pages and WRITEs in flight, to find those that overlap.
 *
 * In write(2), the kernel changes its page, unlocks it, and sends the bytes to the daemon in a
 * WRITE.  During the WRITE, the kernel may drop the page, because the file's time has changed,
 * and read it again.  If the daemon answered this READ with the old bytes, they would stay in
 * the page after the write returned.  So the daemon discards the result of a READ that overlaps
 * a WRITE in time, and repeats the READ after the WRITE.
 *
 *	writer  changes the page |---------- WRITE ----------|
 *	another     drops it, reads |-- READ --| (discarded)  |-- READ --| answered
 *
 * If the daemon has answered the READ before the WRITE arrives, it cannot correct the page.
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
 * Called before pages are read: waits for the writes to them that are in progress.  Returns 0,
 * or -ETIMEDOUT at `until` (clock_now()): then the read was not registered.
 */
int inflight_io_read_start(struct inflight_io *io, struct io_range *x,
			   uint64_t until);
/*
 * Called after the read.  Returns false if a write to the pages has begun meanwhile, so that the
 * caller must read them again.  (The kernel locks a page that it reads, so that write(2) had
 * changed the page before.)
 */
bool inflight_io_read_end(struct inflight_io *io, struct io_range *x);

/*
 * The first is called before a write starts, the second before its reply.  The position of an
 * append is not known.  So its range begins at the end of file as the kernel knows it, which is
 * in the last page that the kernel reads or after it, and ends at the highest offset.
 */
void inflight_io_write_start(struct inflight_io *io, struct io_range *x);
void inflight_io_write_end(struct inflight_io *io, struct io_range *x);

#endif
