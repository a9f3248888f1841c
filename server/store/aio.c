/* SPDX-License-Identifier: BSD-2-Clause */
/* aio.c - libaio, and the thread that collects completions. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/uio.h>
#include <unistd.h>

#include "server/store/aio.h"

#define DEPTH 256
#define BATCH 32
#define LOOK_MS 60000
#define STACK_SIZE (256u * 1024)

struct aio {
	io_context_t ctx;
	int event_fd; /* signals completions */
	pthread_t thread;
	atomic_uint busy; /* iocbs in progress */
	atomic_bool stop;
	/* the file system does not support RWF_NOWAIT for them */
	atomic_bool no_nowait;
};

/* n iocbs of the operation have completed. */
static void count_off(struct aio *aio, struct aio_op *op, unsigned int n)
{
	bool last = atomic_fetch_sub(&op->left, n) == n;

	if (last)
		op->done(op, !atomic_load(&op->failed));
	atomic_fetch_sub(&aio->busy, n);
}

static void handle_event(struct aio *aio, const struct io_event *ev)
{
	struct aio_op *op = ev->data;
	long res = (long)ev->res;

	if (res == -EOPNOTSUPP)
		atomic_store(&aio->no_nowait, true);
	if (res != (long)ev->obj->u.c.nbytes)
		atomic_store(&op->failed, true);
	count_off(aio, op, 1);
}

static void handle_events(struct aio *aio)
{
	struct io_event ev[BATCH];
	struct timespec now = { 0 };
	int i, n;

	do {
		n = io_getevents(aio->ctx, 0, BATCH, ev, &now);
		for (i = 0; i < n; i++)
			handle_event(aio, &ev[i]);
	} while (n == BATCH || n == -EINTR);
}

static void *completion_thread(void *arg)
{
	struct aio *aio = arg;
	struct pollfd fd = { .fd = aio->event_fd, .events = POLLIN };
	uint64_t rings;

	while (!atomic_load(&aio->stop) || atomic_load(&aio->busy)) {
		if (poll(&fd, 1, LOOK_MS) <= 0)
			continue;
		if (read(aio->event_fd, &rings, sizeof(rings)) > 0)
			handle_events(aio);
	}
	return NULL;
}

static int start_thread(struct aio *aio)
{
	pthread_attr_t attr;
	int rc;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	rc = -pthread_create(&aio->thread, &attr, completion_thread, aio);
	pthread_attr_destroy(&attr);
	return rc;
}

int aio_open(struct aio **out)
{
	struct aio *aio = calloc(1, sizeof(*aio));
	int rc;

	if (!aio)
		return -ENOMEM;
	rc = io_setup(DEPTH, &aio->ctx);
	if (rc)
		goto free_aio;
	aio->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	rc = aio->event_fd < 0 ? -errno : 0;
	if (rc)
		goto destroy;
	rc = start_thread(aio);
	if (rc)
		goto close_event_fd;
	*out = aio;
	return 0;
close_event_fd:
	close(aio->event_fd);
destroy:
	io_destroy(aio->ctx);
free_aio:
	free(aio);
	return rc;
}

void aio_close(struct aio *aio)
{
	uint64_t one = 1;

	if (!aio)
		return;
	atomic_store(&aio->stop, true);
	while (write(aio->event_fd, &one, sizeof(one)) < 0 && errno == EINTR)
		;
	pthread_join(aio->thread, NULL);
	close(aio->event_fd);
	io_destroy(aio->ctx);
	free(aio);
}

void aio_begin(struct aio_op *op)
{
	op->n = 0;
	atomic_store_explicit(&op->failed, false, memory_order_relaxed);
}

bool aio_add(struct aio_op *op, int fd, bool write, void *buf, size_t len,
	     uint64_t off)
{
	struct iocb *cb = &op->cb[op->n];

	if (op->n == AIO_PIECES)
		return false;
	if (write)
		io_prep_pwrite(cb, fd, buf, len, (long long)off);
	else
		io_prep_pread(cb, fd, buf, len, (long long)off);
	cb->aio_rw_flags = RWF_NOWAIT;
	cb->data = op;
	op->n++;
	return true;
}

/* If only some iocbs could be started, the operation fails after these have completed. */
bool aio_start(struct aio *aio, struct aio_op *op)
{
	struct iocb *cbs[AIO_PIECES];
	unsigned int i, n = op->n;
	int begun;

	if (atomic_load_explicit(&aio->no_nowait, memory_order_relaxed))
		return false;
	for (i = 0; i < n; i++) {
		cbs[i] = &op->cb[i];
		io_set_eventfd(cbs[i], aio->event_fd);
	}
	atomic_store(&op->left, n);
	atomic_fetch_add(&aio->busy, n);
	begun = io_submit(aio->ctx, (long)n, cbs);
	if (begun == (int)n)
		return true;
	if (begun <= 0) {
		atomic_fetch_sub(&aio->busy, n);
		return false;
	}
	atomic_store(&op->failed, true);
	count_off(aio, op, n - (unsigned int)begun);
	return true;
}
