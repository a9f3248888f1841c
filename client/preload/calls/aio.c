/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * aio.c - POSIX asynchronous I/O.  Requests that can bypass the mount run here, all
 * others in libc.
 */
#undef _FILE_OFFSET_BITS
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>

#include "client/preload/bypass/bypass.h"
#include "client/preload/bypass/request_queue.h"
#include "client/preload/bypass/requests.h"
#include "client/preload/export.h"
#include "client/preload/next.h"
#include "client/preload/own_call.h"
#include "common/util/clock.h"

#define SLICE_MS 10 /* interval for checking signals and libc's requests */

_Static_assert(sizeof(struct aiocb) == sizeof(struct aiocb64),
	       "both forms of a call take the same structure");

EXPORT_TWICE(int, aio_read, aio_read64, (struct aiocb * cb));
EXPORT_TWICE(int, aio_write, aio_write64, (struct aiocb * cb));
EXPORT_TWICE(int, aio_fsync, aio_fsync64, (int op, struct aiocb *cb));
EXPORT_TWICE(int, aio_suspend, aio_suspend64,
	     (const struct aiocb *const list[], int n,
	      const struct timespec *timeout));
EXPORT_TWICE(int, aio_cancel, aio_cancel64, (int fd, struct aiocb *cb));
EXPORT_TWICE(int, lio_listio, lio_listio64,
	     (int mode, struct aiocb *const list[], int n,
	      struct sigevent *sig));

/* ---- one request ---- */

/*
 * Appends must keep the order of the calls.  So either all asynchronous appends of a
 * descriptor go to libc or none, and ours end before libc's start.
 */
static void leave_to_libc(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || !(flags & O_APPEND))
		return;
	desc_set_libc_appends(fd);
	requests_settle_fd(fd);
}

int aio_read(struct aiocb *cb)
{
	if (!own_call_active() && requests_transfer(cb, false, NULL))
		return 0;
	return next.aio_read(cb);
}

int aio_write(struct aiocb *cb)
{
	if (!own_call_active()) {
		if (requests_transfer(cb, true, NULL))
			return 0;
		leave_to_libc(cb->aio_fildes);
	}
	return next.aio_write(cb);
}

int aio_fsync(int op, struct aiocb *cb)
{
	if (!own_call_active() && (op == O_SYNC || op == O_DSYNC) &&
	    requests_sync(cb, op))
		return 0;
	return next.aio_fsync(op, cb);
}

/* ---- waiting ---- */

static bool in_flight(const struct aiocb *cb)
{
	return cb && __atomic_load_n(&cb->__error_code, __ATOMIC_ACQUIRE) ==
			     EINPROGRESS;
}

/* The contents of a list: requests of this library, requests of libc, requests that have ended. */
struct list_kinds {
	bool ours, others, ended;
};

static struct list_kinds classify_list(const struct aiocb *const list[], int n)
{
	struct list_kinds k = { 0 };
	int i;

	for (i = 0; i < n; i++) {
		if (!list[i])
			continue;
		if (!in_flight(list[i]))
			k.ended = true;
		else if (request_queue_has(bypass_requests(), list[i]))
			k.ours = true;
		else
			k.others = true;
	}
	return k;
}

static uint64_t end_of_timeout(const struct timespec *timeout)
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
	uint64_t end = end_of_timeout(timeout), slice;
	struct list_kinds k = classify_list(list, n);

	if (!k.ours && !k.ended)
		return next.aio_suspend(list, n, timeout);
	for (; !k.ended; k = classify_list(list, n)) {
		pthread_testcancel();
		if (clock_now() >= end)
			return suspend_failed(EAGAIN);
		slice = clock_after_ms(SLICE_MS);
		if (request_queue_wait(bypass_requests(),
				       slice < end ? slice : end))
			return suspend_failed(EINTR);
	}
	return 0;
}

/* ---- cancel ---- */

int aio_cancel(int fd, struct aiocb *cb)
{
	int ours = request_queue_cancel(bypass_requests(), fd, cb), others;

	if (ours < 0) {
		if (fcntl(fd, F_GETFD) >= 0)
			errno = EINVAL; /* cb belongs to another descriptor */
		return -1;
	}
	if (cb &&
	    (ours != AIO_ALLDONE || request_queue_has(bypass_requests(), cb)))
		return ours;
	others = next.aio_cancel(fd, cb);
	if (others < 0 || others == AIO_NOTCANCELED || ours == AIO_ALLDONE)
		return others;
	return ours;
}

/* ---- lists ---- */

/* The requests that are not ours, in order. */
struct libc_requests {
	struct aiocb **list;
	int n;
};

static void begin_own_requests(struct aiocb *const list[], int n,
			       struct notify_group *group,
			       struct libc_requests *rest)
{
	int i;

	for (i = 0; i < n; i++) {
		int op = list[i] ? list[i]->aio_lio_opcode : LIO_NOP;

		if (op == LIO_NOP)
			continue;
		if ((op == LIO_READ || op == LIO_WRITE) &&
		    requests_transfer(list[i], op == LIO_WRITE, group))
			continue;
		if (op == LIO_WRITE)
			leave_to_libc(list[i]->aio_fildes);
		rest->list[rest->n++] = list[i];
	}
}

static void end_libc_requests(union sigval arg)
{
	notify_group_put(arg.sival_ptr);
}

/* All of the rest counts as one request of the group. */
static int begin_libc_requests(const struct libc_requests *rest,
			       struct notify_group *group)
{
	struct sigevent how = { .sigev_notify = SIGEV_THREAD,
				.sigev_notify_function = end_libc_requests,
				.sigev_value = { .sival_ptr = group } };

	if (!rest->n)
		return 0;
	notify_group_get(group);
	return next.lio_listio(LIO_NOWAIT, rest->list, rest->n, &how);
}

static int wait_for_list(struct aiocb *const list[], int n)
{
	bool failed = false;
	int i;

	for (i = 0; i < n; i++) {
		const struct aiocb *const one[] = { list[i] };

		if (!list[i] || list[i]->aio_lio_opcode == LIO_NOP)
			continue;
		while (in_flight(list[i]))
			if (aio_suspend(one, 1, NULL) && errno == EINTR)
				return -1;
		failed = failed || aio_error(list[i]);
	}
	if (failed)
		errno = EIO;
	return failed ? -1 : 0;
}

static int begin_list(int mode, struct aiocb *const list[], int n,
		      const struct sigevent *sig, struct libc_requests *rest)
{
	struct notify_group *group = notify_group_new(
		mode == LIO_NOWAIT ? sig : NULL);
	int rc;

	if (!group) {
		errno = EAGAIN;
		return -1;
	}
	begin_own_requests(list, n, group, rest);
	rc = begin_libc_requests(rest, group);
	notify_group_put(group);
	return mode == LIO_WAIT ? wait_for_list(list, n) : rc;
}

int lio_listio(int mode, struct aiocb *const list[], int n,
	       struct sigevent *sig)
{
	struct libc_requests rest = { 0 };
	int rc;

	if (own_call_active() || n <= 0 ||
	    (mode != LIO_WAIT && mode != LIO_NOWAIT))
		return next.lio_listio(mode, list, n, sig);
	rest.list = calloc((size_t)n, sizeof(struct aiocb *));
	if (!rest.list) {
		errno = EAGAIN;
		return -1;
	}
	rc = begin_list(mode, list, n, sig, &rest);
	free(rest.list);
	return rc;
}
