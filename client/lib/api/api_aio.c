/* SPDX-License-Identifier: BSD-2-Clause */
/* api_aio.c - queues of asynchronous requests. */
#include <stdlib.h>

#include "client/lib/api/api_aio_int.h"

struct pvfs_aio_queue {
	struct aio_queue *queue;
	unsigned int forks; /* process_forks() of the owner at creation */
};

/* ---- start and end of a request ---- */

/* Releases what the request holds before its end is reported. */
static int64_t request_run(struct aio_call *call)
{
	struct request *r = container_of(call, struct request, call);
	unsigned int counts = r->f ? r->f->profile : PROFILE_NAMES;
	uint64_t begun = r->f && !r->f->fs ? 0 : profile_start();
	int64_t n = r->what(r);

	if (r->f)
		file_put(r->f);
	r->f = NULL;
	profile_done(PROFILE_AIO, counts, begun, n, true);
	return n;
}

/* A request that never ran still holds its file. */
static struct pvfs_aio *request_taken(struct aio_call *call)
{
	struct request *r = container_of(call, struct request, call);
	struct pvfs_aio *aio = aio_of(r);

	if (r->f)
		file_put(r->f);
	r->f = NULL;
	aio->error = call->result < 0 ? (int)-call->result : 0;
	aio->result = call->result < 0 ? -1 : call->result;
	return aio;
}

static void request_report(struct aio_call *call)
{
	struct pvfs_aio *aio = request_taken(call);

	aio->done(aio);
}

/* ---- queues ---- */

static bool is_ours(const struct pvfs_aio_queue *q)
{
	return q->forks == process_forks();
}

int pvfs_aio_queue_new(unsigned int flags, struct pvfs_aio_queue **queue)
{
	struct pvfs_aio_queue *q;
	int rc;

	if (flags & ~PVFS_AIO_TENDED)
		return api_int(-EINVAL);
	q = calloc(1, sizeof(*q));
	if (!q)
		return api_int(-ENOMEM);
	q->forks = process_forks();
	rc = aio_queue_new(flags & PVFS_AIO_TENDED, &q->queue);
	if (rc)
		free(q);
	else
		*queue = q;
	return api_int(rc);
}

/* Drops the remaining requests without a report, and releases their files. */
static void free_queue(struct pvfs_aio_queue *q)
{
	struct aio_calls rest = STAILQ_HEAD_INITIALIZER(rest);
	struct aio_call *call;

	aio_queue_free(q->queue, &rest);
	while ((call = STAILQ_FIRST(&rest))) {
		STAILQ_REMOVE_HEAD(&rest, link);
		request_taken(call);
	}
}

void pvfs_aio_queue_free(struct pvfs_aio_queue *q)
{
	int saved = errno;

	if (is_ours(q))
		free_queue(q);
	else
		aio_queue_abandon(q->queue);
	free(q);
	errno = saved;
}

int pvfs_aio_submit(struct pvfs_aio_queue *q, struct pvfs_aio *const aio[],
		    unsigned int n)
{
	int saved = errno;
	unsigned int i;

	if (!is_ours(q))
		return api_int(-ECHILD);
	for (i = 0; i < n; i++) {
		struct request *r = request_of(aio[i]);

		r->f = r->fd < 0 ? NULL : process_file(r->fd);
		r->call.run = request_run;
		r->call.done = aio[i]->done ? request_report : NULL;
		aio_queue_add(q->queue, &r->call);
	}
	aio_queue_start(q->queue);
	errno = saved;
	return 0;
}

int pvfs_aio_wait(struct pvfs_aio_queue *q, struct pvfs_aio *ended[],
		  unsigned int max, unsigned int min, int timeout_ms)
{
	uint64_t until = timeout_ms < 0 ? CLOCK_NEVER
					: clock_after_ms((uint64_t)timeout_ms);
	struct aio_calls calls = STAILQ_HEAD_INITIALIZER(calls);
	uint64_t begun = profile_start();
	int saved = errno, n, i;

	if (!is_ours(q) || timeout_ms < -1)
		return api_int(is_ours(q) ? -EINVAL : -ECHILD);
	n = aio_queue_wait(q->queue, &calls, max, min, until);
	for (i = 0; i < n; i++) {
		struct aio_call *call = STAILQ_FIRST(&calls);

		STAILQ_REMOVE_HEAD(&calls, link);
		ended[i] = request_taken(call);
	}
	profile_done(PROFILE_WAIT, PROFILE_NAMES, begun, n, false);
	errno = saved;
	return api_int(n);
}

int pvfs_aio_fd(struct pvfs_aio_queue *q)
{
	return api_int(is_ours(q) ? aio_queue_fd(q->queue) : -ECHILD);
}

int pvfs_aio_cancel(struct pvfs_aio_queue *q, struct pvfs_aio *aio)
{
	if (!is_ours(q))
		return api_int(-ECHILD);
	return api_int(aio_queue_cancel(q->queue, &request_of(aio)->call));
}
