/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * aio.c - POSIX asynchronous I/O.  Requests that can bypass the mount run here, all
 * others in libc.
 */
/* The functions are defined under both names, with and without 64. */
#undef _FILE_OFFSET_BITS
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>

#include "common/util/clock.h"
#include "client/preload/next.h"
#include "client/preload/requests.h"
#include "client/preload/self.h"

_Static_assert(sizeof(struct aiocb) == sizeof(struct aiocb64),
	       "64 bit systems only");

#define OURS __attribute__((visibility("default")))
#define TWO_NAMES(name, name64, args, args64)                                  \
	OURS int name args;                                                    \
	OURS int name64 args64 __attribute__((alias(#name)))

#define SLICE_MS 10 /* interval for checking signals and libc's requests */

/* The forms with 64 are the same here, except for the names of their types. */
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wattribute-alias"
#endif
TWO_NAMES(aio_read, aio_read64, (struct aiocb * cb), (struct aiocb64 * cb));
TWO_NAMES(aio_write, aio_write64, (struct aiocb * cb), (struct aiocb64 * cb));
TWO_NAMES(aio_fsync, aio_fsync64, (int op, struct aiocb *cb),
	  (int op, struct aiocb64 *cb));
TWO_NAMES(aio_suspend, aio_suspend64,
	  (const struct aiocb *const list[], int n,
	   const struct timespec *timeout),
	  (const struct aiocb64 *const list[], int n,
	   const struct timespec *timeout));
TWO_NAMES(aio_cancel, aio_cancel64, (int fd, struct aiocb *cb),
	  (int fd, struct aiocb64 *cb));
TWO_NAMES(lio_listio, lio_listio64,
	  (int mode, struct aiocb *const list[], int n, struct sigevent *sig),
	  (int mode, struct aiocb64 *const list[], int n,
	   struct sigevent *sig));

/* ---- one request ---- */

/*
 * Appends must keep the order of the calls.  So either all asynchronous appends of a
 * descriptor go to libc or none, and ours end before libc's start.
 */
static void left_to_libc(int fd)
{
	int flags;

	if ((unsigned int)fd >= NUMBERS)
		return;
	flags = fcntl(fd, F_GETFL);
	if (flags < 0 || !(flags & O_APPEND))
		return;
	number_appends(fd);
	requests_settle_of(fd);
}

int aio_read(struct aiocb *cb)
{
	if (!self_busy() && request_begin(cb, false, NULL))
		return 0;
	return next.aio_read(cb);
}

int aio_write(struct aiocb *cb)
{
	if (!self_busy()) {
		if (request_begin(cb, true, NULL))
			return 0;
		left_to_libc(cb->aio_fildes);
	}
	return next.aio_write(cb);
}

int aio_fsync(int op, struct aiocb *cb)
{
	if (!self_busy() && (op == O_SYNC || op == O_DSYNC) &&
	    request_sync(cb, op))
		return 0;
	return next.aio_fsync(op, cb);
}

/* ---- waiting ---- */

static bool under_way(const struct aiocb *cb)
{
	return cb && __atomic_load_n(&cb->__error_code, __ATOMIC_ACQUIRE) ==
			     EINPROGRESS;
}

/* Flags of a list: it has requests of ours, of libc, ended ones. */
struct kinds {
	bool ours, others, ended;
};

static struct kinds kinds_of(const struct aiocb *const list[], int n)
{
	struct kinds k = { 0 };
	int i;

	for (i = 0; i < n; i++) {
		if (!list[i])
			continue;
		if (!under_way(list[i]))
			k.ended = true;
		else if (request_is_ours(list[i]))
			k.ours = true;
		else
			k.others = true;
	}
	return k;
}

static uint64_t until(const struct timespec *timeout)
{
	if (!timeout)
		return CLOCK_NEVER;
	return clock_now() + (uint64_t)timeout->tv_sec * 1000000000u +
	       (uint64_t)timeout->tv_nsec;
}

static int suspend_failed(int err)
{
	errno = err;
	return -1;
}

int aio_suspend(const struct aiocb *const list[], int n,
		const struct timespec *timeout)
{
	uint64_t end = until(timeout), slice;
	struct kinds k = kinds_of(list, n);

	if (!k.ours && !k.ended)
		return next.aio_suspend(list, n, timeout);
	for (; !k.ended; k = kinds_of(list, n)) {
		pthread_testcancel();
		if (clock_now() >= end)
			return suspend_failed(EAGAIN);
		slice = clock_after_ms(SLICE_MS);
		if (requests_wait(slice < end ? slice : end))
			return suspend_failed(EINTR);
	}
	return 0;
}

/* ---- cancel ---- */

int aio_cancel(int fd, struct aiocb *cb)
{
	int ours = request_cancel(fd, cb), others;

	if (ours < 0) {
		if (fcntl(fd, F_GETFD) >= 0)
			errno = EINVAL; /* cb belongs to another descriptor */
		return -1;
	}
	if (cb && (ours != AIO_ALLDONE || request_is_ours(cb)))
		return ours;
	others = next.aio_cancel(fd, cb);
	if (others < 0 || others == AIO_NOTCANCELED || ours == AIO_ALLDONE)
		return others;
	return ours;
}

/* ---- lists ---- */

/* The requests that are not ours, in order. */
struct rest {
	struct aiocb **list;
	int n;
};

static void begin_ours(struct aiocb *const list[], int n, struct group *group,
		       struct rest *rest)
{
	int i;

	for (i = 0; i < n; i++) {
		int op = list[i] ? list[i]->aio_lio_opcode : LIO_NOP;

		if (op == LIO_NOP)
			continue;
		if ((op == LIO_READ || op == LIO_WRITE) &&
		    request_begin(list[i], op == LIO_WRITE, group))
			continue;
		if (op == LIO_WRITE)
			left_to_libc(list[i]->aio_fildes);
		rest->list[rest->n++] = list[i];
	}
}

static void rest_ended(union sigval arg)
{
	group_put(arg.sival_ptr);
}

/* All of the rest counts as one request of the group. */
static int begin_rest(const struct rest *rest, struct group *group)
{
	struct sigevent how = { .sigev_notify = SIGEV_THREAD,
				.sigev_notify_function = rest_ended,
				.sigev_value = { .sival_ptr = group } };

	if (!rest->n)
		return 0;
	group_get(group);
	return next.lio_listio(LIO_NOWAIT, rest->list, rest->n, &how);
}

static int wait_for_all(struct aiocb *const list[], int n)
{
	bool failed = false;
	int i;

	for (i = 0; i < n; i++) {
		const struct aiocb *const one[] = { list[i] };

		if (!list[i] || list[i]->aio_lio_opcode == LIO_NOP)
			continue;
		while (under_way(list[i]))
			if (aio_suspend(one, 1, NULL) && errno == EINTR)
				return -1;
		failed = failed || aio_error(list[i]);
	}
	if (failed)
		errno = EIO;
	return failed ? -1 : 0;
}

static int list_io(int mode, struct aiocb *const list[], int n,
		   const struct sigevent *sig, struct rest *rest)
{
	struct group *group = group_new(mode == LIO_NOWAIT ? sig : NULL);
	int rc;

	if (!group) {
		errno = EAGAIN;
		return -1;
	}
	begin_ours(list, n, group, rest);
	rc = begin_rest(rest, group);
	group_put(group);
	return mode == LIO_WAIT ? wait_for_all(list, n) : rc;
}

int lio_listio(int mode, struct aiocb *const list[], int n,
	       struct sigevent *sig)
{
	struct rest rest = { 0 };
	int rc;

	if (self_busy() || n <= 0 || (mode != LIO_WAIT && mode != LIO_NOWAIT))
		return next.lio_listio(mode, list, n, sig);
	rest.list = calloc((size_t)n, sizeof(struct aiocb *));
	if (!rest.list) {
		errno = EAGAIN;
		return -1;
	}
	rc = list_io(mode, list, n, sig, &rest);
	free(rest.list);
	return rc;
}
