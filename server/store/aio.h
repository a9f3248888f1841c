/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * aio.h - asynchronous reads and writes of whole blocks past the page cache: libaio, and one
 * thread that reports completions.
 *
 * Any thread may start an operation, and the kernel blocks no thread for it.  An operation that
 * would have to wait (for a lock, for space, for a queue) fails.  The caller then repeats it on a
 * thread that may block.
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
	/* called on aio's thread, or by aio_start(); whole: every byte was moved */
	void (*done)(struct aio_op *op, bool whole);
	struct iocb cb[AIO_PIECES];
	unsigned int n;
	atomic_uint left;
	atomic_bool failed;
};

/* -ENOSYS: the system has no libaio; -EAGAIN: its limit is reached; -errno. */
int aio_open(struct aio **aio);
/* Waits for all operations in progress.  No operation may be started any more. */
void aio_close(struct aio *aio);

/* Makes op empty.  The caller owns op, and keeps it until done(). */
void aio_begin(struct aio_op *op);
/* Adds a read or write of len bytes at offset off.  False: op has AIO_PIECES already. */
bool aio_add(struct aio_op *op, int fd, bool write, void *buf, size_t len,
	     uint64_t off);
/*
 * Starts op.  Returns true if done() will be called; this may happen before aio_start() returns.
 * False: nothing was started.
 */
bool aio_start(struct aio *aio, struct aio_op *op);

#endif
