/* SPDX-License-Identifier: BSD-2-Clause */
/* requests.c - see requests.h. */
#include "client/preload/bypass/requests.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "client/lib/session/coroutine.h"
#include "client/preload/bypass/bypass_io.h"
#include "client/preload/bypass/request_queue.h"
#include "client/preload/next.h"
#include "client/preload/own_call.h"
#include "common/util/clock.h"
#include "common/util/container.h"

#define SETTLE_MS 30000

struct async {
	struct queued_request request;
	struct aiocb *cb;
	struct sigevent how; /* notification of the end */
	struct notify_group *group;
	struct bypass_io io;
	struct iovec iov;
	int64_t off;
	int op; /* argument of aio_fsync() */
};

/* ---- the queue of the process ---- */

static struct request_queue *get_queue(void)
{
	struct bypass *b = bypass_get();
	struct request_queue *q, *none = NULL;

	if (!b || (q = atomic_load(&b->requests)))
		return b ? q : NULL;
	q = request_queue_new();
	if (!q || atomic_compare_exchange_strong(&b->requests, &none, q))
		return q;
	request_queue_free(q);
	return none;
}

void requests_settle_fd(int fd)
{
	while (request_queue_has_fd(bypass_requests(), fd))
		request_queue_wait(bypass_requests(),
				   clock_after_ms(SETTLE_MS));
}

/* ---- end of a request ---- */

/* After this, the control block belongs to the program, and may be freed. */
static void set_result(struct aiocb *cb, int64_t n)
{
	cb->__return_value = n < 0 ? -1 : n;
	__atomic_store_n(&cb->__error_code, n < 0 ? (int)-n : 0,
			 __ATOMIC_RELEASE);
}

static void end_request(struct aio_call *call)
{
	struct async *a = container_of(call, struct async, request.call);
	struct queued_request *later = request_queue_remove(&a->request);

	if (call->result == -ECANCELED)
		desc_end(&a->io.use);
	set_result(a->cb, call->result);
	notify(&a->how);
	notify_group_put(a->group);
	request_put(&a->request);
	if (later)
		request_start(later);
}

/* ---- start ---- */

static int64_t run_transfer(struct aio_call *call)
{
	struct async *a = container_of(call, struct async, request.call);

	return bypass_io_run_async(&a->io, a->off);
}

static struct async *new_async(struct aiocb *cb, struct notify_group *group,
			       int64_t (*run)(struct aio_call *call))
{
	struct async *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	a->request.call.run = run;
	a->request.call.done = end_request;
	a->request.cb = a->cb = cb;
	a->request.fd = cb->aio_fildes;
	a->how = cb->aio_sigevent;
	a->group = group;
	return a;
}

static void start_async(struct request_queue *q, struct async *a,
			bool after_earlier)
{
	set_result(a->cb, -EINPROGRESS);
	if (a->group)
		notify_group_get(a->group);
	if (request_queue_add(q, &a->request, after_earlier))
		request_start(&a->request);
}

/* Whether the offset and the priority are valid.  If not, libc executes or rejects the request. */
static bool is_simple(const struct aiocb *cb)
{
	return cb->aio_offset >= 0 && cb->aio_reqprio >= 0 &&
	       cb->aio_reqprio <= sysconf(_SC_AIO_PRIO_DELTA_MAX);
}

static bool libc_appends(const struct bypass_io *io)
{
	return io->write && io->use.flags & O_APPEND &&
	       desc_libc_appends(io->use.fd);
}

/* Prepares the transfer.  Returns false if libc must execute the request. */
static bool begin_transfer(struct async *a, bool write)
{
	struct bypass_io *io = &a->io;

	a->iov = (struct iovec){ (void *)(uintptr_t)a->cb->aio_buf,
				 a->cb->aio_nbytes };
	a->off = a->cb->aio_offset;
	if (!bypass_io_begin_async(io, a->request.fd, write, &a->iov, 1))
		return false;
	if (!libc_appends(io))
		return true;
	own_call_enter();
	desc_end(&io->use);
	own_call_leave();
	return false;
}

bool requests_transfer(struct aiocb *cb, bool write, struct notify_group *group)
{
	struct request_queue *q;
	struct async *a;

	if (!is_simple(cb) || !desc_may_be_ours(cb->aio_fildes, cb->aio_nbytes))
		return false;
	q = get_queue();
	a = q ? new_async(cb, group, run_transfer) : NULL;
	if (!a)
		return false;
	if (!begin_transfer(a, write)) {
		free(a);
		return false;
	}
	own_call_enter();
	start_async(q, a, false);
	own_call_leave();
	return true;
}

/* ---- fsync ---- */

/* libc waits for writes that went through the mount. */
static int sync_mount(void *arg)
{
	struct async *a = arg;
	struct aiocb cb = { .aio_fildes = a->request.fd };
	const struct aiocb *const list[] = { &cb };

	cb.aio_sigevent.sigev_notify = SIGEV_NONE;
	if (next.aio_fsync(a->op, &cb))
		return -errno;
	while (aio_error(&cb) == EINPROGRESS)
		next.aio_suspend(list, 1, NULL);
	return -aio_error(&cb);
}

static int open_written_file(void *arg)
{
	struct async *a = arg;

	bypass_open_written_file(a->request.fd, &a->io.use);
	return 0;
}

static int64_t run_sync(struct aio_call *call)
{
	struct async *a = container_of(call, struct async, request.call);
	int rc = coroutine_aside(sync_mount, a);

	if (!rc)
		rc = desc_take_error(&a->io.use);
	if (!a->io.use.f)
		coroutine_aside(open_written_file, a);
	if (a->io.use.f)
		rc = written_files_sync(&a->io.use, rc);
	desc_end(&a->io.use);
	return rc;
}

bool requests_sync(struct aiocb *cb, int op)
{
	struct request_queue *q;
	struct async *a;

	if (!desc_seems_ours(cb->aio_fildes) &&
	    !bypass_has_written(cb->aio_fildes))
		return false;
	q = get_queue();
	a = q ? new_async(cb, NULL, run_sync) : NULL;
	if (!a)
		return false;
	own_call_enter();
	bypass_find_file(cb->aio_fildes, &a->io.use);
	a->op = op;
	start_async(q, a, true);
	own_call_leave();
	return true;
}
