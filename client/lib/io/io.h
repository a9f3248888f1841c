/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * io.h - reads and writes of a striped file: every server's requests at
 * once, joined.
 *
 * Payload goes as ICPP 2003, section 3.2.3, has it: a write of little travels
 * with its request and a read of little with its reply; otherwise the server
 * reads or writes this client's registered memory.
 */
#ifndef IO_H
#define IO_H

#include "client/lib/io/plan.h"
#include "client/lib/session/session.h"

#define IO_READ_INLINE 4096u

/*
 * Writes the whole plan.  flags: WIRE_IO_SYNC.  After an error any part of it
 * may have been written.
 */
int io_write(struct session *s, uint64_t handle, const struct plan *plan,
	     uint32_t flags);

/*
 * Reads the plan, whose spans go up and do not overlap; *n is how much of the
 * transfer lies before the end of the file.  What no object covers before that reads as zeros; memory behind it
 * is left alone.  *doubt: objects are missing that a file of at least least
 * bytes would have, so it may have been removed; only the mgr knows.
 */
int io_read(struct session *s, uint64_t handle, const struct plan *plan,
	    uint64_t least, uint64_t *n, bool *doubt);

#endif
