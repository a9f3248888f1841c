/* SPDX-License-Identifier: BSD-2-Clause */
/* requests_cancel.c - cancelling requests whose turn has not come. */
#include <stdlib.h>

#include "client/preload/requests_int.h"
#include "client/preload/self.h"

static bool is_meant(const struct request *r, int fd, const struct aiocb *cb)
{
	return cb ? r->cb == cb : r->move.use.fd == fd;
}

/*
 * Collects the requests meant, with held incremented: *n of them, in memory for free().
 * NULL: none, or no memory.
 */
static struct request **hold(struct requests *all, int fd,
			     const struct aiocb *cb, size_t *n)
{
	struct request *r, **held;

	*n = 0;
	pthread_mutex_lock(&all->lock);
	LIST_FOREACH(r, &all->under_way, link)
		*n += is_meant(r, fd, cb);
	held = *n ? calloc(*n, sizeof(struct request *)) : NULL;
	*n = 0;
	LIST_FOREACH(r, &all->under_way, link) {
		if (!held || !is_meant(r, fd, cb))
			continue;
		r->held++;
		held[(*n)++] = r;
	}
	pthread_mutex_unlock(&all->lock);
	return held;
}

int request_cancel(int fd, const struct aiocb *cb)
{
	struct requests *all = requests_there();
	struct request **held = NULL;
	int result = AIO_ALLDONE;
	size_t n = 0, i;

	self_enter();
	if (all)
		held = hold(all, fd, cb, &n);
	for (i = 0; i < n; i++) {
		if (held[i]->move.use.fd != fd)
			result = -1;
		else if (aio_queue_cancel(all->queue, &held[i]->call))
			result = AIO_NOTCANCELED;
		else if (result == AIO_ALLDONE)
			result = AIO_CANCELED;
		request_let_go(held[i], false);
	}
	free(held);
	self_leave();
	return result;
}
