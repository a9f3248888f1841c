/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * io.h - reads and writes of a striped file, with requests to all servers concurrently.
 *
 * Data is transferred as in ICPP 2003, section 3.2.3: a small write travels with its
 * request, and a small read with its reply.  Otherwise the server reads or writes the
 * registered memory of the client.
 */
#ifndef IO_H
#define IO_H

#include "client/lib/io/plan.h"
#include "client/lib/session/client_session.h"

#define IO_READ_INLINE 4096u

/*
 * Writes the whole plan.  flags: WIRE_IO_SYNC.  After an error, any part may have been
 * written.  Returns 0 or -errno.
 */
int io_write(struct session *s, uint64_t handle, const struct io_plan *plan,
	     uint32_t flags);

/*
 * Reads the plan, whose spans ascend and do not overlap.  Sets *n to the bytes of the
 * transfer before the end of the file.  Bytes before the end that no object has read as
 * zeros; memory for bytes beyond the end is unchanged.  Sets *doubt if objects are
 * missing that a file of least bytes must have.  The file may then have been removed;
 * only the manager knows.  Returns 0 or -errno.
 */
int io_read(struct session *s, uint64_t handle, const struct io_plan *plan,
	    uint64_t least, uint64_t *n, bool *doubt);

#endif
