/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * aio.h - reads and writes of whole blocks past the page cache that nobody
 * waits for: libaio, with one thread that hands out what completed.
 *
 * Any thread may start one.  None waits in the kernel: what would (for a lock,
 * for space, for a queue) fails, and is to be done by a thread that may.
 */
#ifndef AIO_H
#define AIO_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <libaio.h>

#define AIO_PIECES 8u

struct aio;

struct aio_op {
	/* from another thread; whole: every byte was moved */
	void (*done)(struct aio_op *op, bool whole);
	struct iocb cb[AIO_PIECES];
	unsigned int n;
	atomic_uint left;
	atomic_bool failed;
};

/* -ENOSYS, -EAGAIN: not here, or the system has given all away. */
int aio_open(struct aio **aio);
/* Waits for all that is under way; nothing is to be started any more. */
void aio_close(struct aio *aio);

void aio_begin(struct aio_op *op);
/* False: there are AIO_PIECES. */
bool aio_add(struct aio_op *op, int fd, bool write, void *buf, size_t len,
	     uint64_t off);
/* True: done() follows, if it did not come yet.  False: nothing was begun. */
bool aio_start(struct aio *aio, struct aio_op *op);

#endif
