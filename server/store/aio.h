/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * aio.h - asynchronous reads and writes of whole blocks past the page cache: libaio, and one
 * thread that reports completions.
 *
 * Any thread may start an operation, and none blocks in the kernel.  An operation that would
 * have to wait (for a lock, for space, for a queue) fails.  Then a thread that may block has to
 * do it.
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
	/* called from aio's thread, or from aio_start(); whole: every byte was moved */
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

void aio_begin(struct aio_op *op);
/* False: the operation has AIO_PIECES already. */
bool aio_add(struct aio_op *op, int fd, bool write, void *buf, size_t len,
	     uint64_t off);
/* True: done() is called, possibly before this returns.  False: nothing was started. */
bool aio_start(struct aio *aio, struct aio_op *op);

#endif
