/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbs_cq.c - the completion queue: opening, sizing, its descriptors, its timer, completions that
 * were fetched from the hardware, and what remains of closed endpoints.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "common/transport/verbs/verbs.h"
#include "common/util/clock.h"

#define ENTRIES 256 /* initial size */

static int set_nonblocking(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	return flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) ? -errno : 0;
}

static int queues_open(struct vb_cq *cq, struct vb_dev *d)
{
	int rc;

	cq->cm = rdma_create_event_channel();
	if (!cq->cm)
		return -errno;
	cq->chan = ibv_create_comp_channel(d->ctx);
	if (!cq->chan) {
		rc = -errno;
		goto destroy_cm;
	}
	cq->ib = ibv_create_cq(d->ctx, ENTRIES, cq, cq->chan, 0);
	if (!cq->ib) {
		rc = -errno;
		goto destroy_chan;
	}
	rc = set_nonblocking(cq->cm->fd);
	if (!rc)
		rc = set_nonblocking(cq->chan->fd);
	if (!rc)
		rc = set_nonblocking(d->ctx->async_fd);
	if (!rc)
		return 0;
	ibv_destroy_cq(cq->ib);
destroy_chan:
	ibv_destroy_comp_channel(cq->chan);
destroy_cm:
	rdma_destroy_event_channel(cq->cm);
	return rc;
}

static void queues_close(struct vb_cq *cq)
{
	ibv_destroy_cq(cq->ib);
	ibv_destroy_comp_channel(cq->chan);
	rdma_destroy_event_channel(cq->cm);
}

static int source_add(struct vb_cq *cq, int fd, enum vb_source source)
{
	struct epoll_event ev = { EPOLLIN, { .u32 = source } };

	return epoll_ctl(cq->epfd, EPOLL_CTL_ADD, fd, &ev) ? -errno : 0;
}

static int sources_add(struct vb_cq *cq)
{
	int rc = source_add(cq, cq->chan->fd, VB_SRC_DONE);

	if (!rc)
		rc = source_add(cq, cq->cm->fd, VB_SRC_CM);
	if (!rc)
		rc = source_add(cq, vb_dev(cq->cq.dev)->ctx->async_fd,
				VB_SRC_ASYNC);
	if (!rc)
		rc = source_add(cq, cq->timerfd, VB_SRC_TIMER);
	if (!rc)
		rc = source_add(cq, cq->wakefd, VB_SRC_WAKE);
	return rc;
}

static int sources_open(struct vb_cq *cq)
{
	int rc;

	cq->epfd = epoll_create1(EPOLL_CLOEXEC);
	if (cq->epfd < 0)
		return -errno;
	cq->wakefd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (cq->wakefd < 0) {
		rc = -errno;
		goto close_epfd;
	}
	cq->timerfd = timerfd_create(CLOCK_MONOTONIC,
				     TFD_NONBLOCK | TFD_CLOEXEC);
	if (cq->timerfd < 0) {
		rc = -errno;
		goto close_wakefd;
	}
	rc = sources_add(cq);
	if (!rc)
		return 0;
	close(cq->timerfd);
close_wakefd:
	close(cq->wakefd);
close_epfd:
	close(cq->epfd);
	return rc;
}

static void sources_close(struct vb_cq *cq)
{
	close(cq->timerfd);
	close(cq->wakefd);
	close(cq->epfd);
}

bool vb_cq_fetch(struct vb_cq *cq)
{
	int n;

	if (cq->fetched_at < cq->fetched_n)
		return true;
	n = ibv_poll_cq(cq->ib, VB_FETCHED, cq->fetched);
	cq->fetched_at = 0;
	cq->fetched_n = n > 0 ? (unsigned int)n : 0;
	return n > 0;
}

static bool fetched_grow(struct vb_cq *cq)
{
	unsigned int size = 2 * cq->fetched_size;
	struct ibv_wc *more = realloc(cq->fetched, size * sizeof(*more));

	if (!more)
		return false;
	cq->fetched = more;
	cq->fetched_size = size;
	return true;
}

void vb_cq_fetch_all(struct vb_cq *cq)
{
	int n;

	if (!vb_cq_fetch(cq))
		return;
	do {
		if (cq->fetched_n + VB_FETCHED > cq->fetched_size &&
		    !fetched_grow(cq))
			return;
		n = ibv_poll_cq(cq->ib, VB_FETCHED,
				cq->fetched + cq->fetched_n);
		if (n > 0)
			cq->fetched_n += (unsigned int)n;
	} while (n == VB_FETCHED);
}

void vb_remnant_end(struct vb_remnant *rest)
{
	TAILQ_REMOVE(&rest->cq->remnants, rest, link);
	if (rest->qp) {
		vb_cq_fetch_all(rest->cq);
		ibv_destroy_qp(rest->qp);
	}
	rdma_destroy_id(rest->id);
	free(rest);
}

int vb_cq_open(struct tp_dev *dev, unsigned int depth, struct tp_cq **out)
{
	struct vb_cq *cq = calloc(1, sizeof(*cq));
	int rc;

	if (!cq)
		return -ENOMEM;
	cq->cq.dev = dev;
	cq->room = depth;
	cq->timer_at = CLOCK_NEVER;
	cq->fetched = calloc(VB_FETCHED, sizeof(*cq->fetched));
	cq->fetched_size = VB_FETCHED;
	if (!cq->fetched) {
		free(cq);
		return -ENOMEM;
	}
	vb_bounces_init(&cq->bounces);
	TAILQ_INIT(&cq->eps);
	TAILQ_INIT(&cq->leaving);
	TAILQ_INIT(&cq->flushing);
	TAILQ_INIT(&cq->events);
	TAILQ_INIT(&cq->remnants);
	rc = queues_open(cq, vb_dev(dev));
	if (rc)
		goto free_cq;
	rc = sources_open(cq);
	if (rc)
		goto close_queues;
	pthread_mutex_lock(&vb_dev(dev)->lock);
	LIST_INSERT_HEAD(&vb_dev(dev)->cqs, cq, link);
	pthread_mutex_unlock(&vb_dev(dev)->lock);
	*out = &cq->cq;
	return 0;
close_queues:
	queues_close(cq);
free_cq:
	log_error(dev->log, "verbs: no completion queue (error %d)", -rc);
	free(cq->fetched);
	free(cq);
	return rc;
}

/* Endpoints sent their disconnects when they were closed. */
void vb_cq_close(struct tp_cq *base)
{
	struct vb_cq *cq = vb_cq(base);
	struct vb_remnant *rest;

	pthread_mutex_lock(&vb_dev(base->dev)->lock);
	LIST_REMOVE(cq, link);
	pthread_mutex_unlock(&vb_dev(base->dev)->lock);
	while ((rest = TAILQ_FIRST(&cq->remnants)))
		vb_remnant_end(rest);
	vb_bounces_close(&cq->bounces);
	sources_close(cq);
	queues_close(cq);
	free(cq->slot);
	free(cq->fetched);
	free(cq);
}

/*
 * Closes descriptors only: the objects belong to the parent, and a child cannot use the device's
 * context.
 */
void vb_cq_abandon(struct tp_cq *base)
{
	struct vb_cq *cq = vb_cq(base);
	struct vb_dev *d = vb_dev(base->dev);

	sources_close(cq);
	close(cq->chan->fd);
	close(cq->cm->fd);
	if (d->abandoned)
		return;
	d->abandoned = true;
	close(d->ctx->async_fd);
	close(d->ctx->cmd_fd);
}

int vb_cq_grow(struct vb_cq *cq, unsigned int entries)
{
	const struct vb_dev *d = vb_dev(cq->cq.dev);
	unsigned int want = cq->used + entries, max, size;
	int rc;

	max = (unsigned int)d->attr.max_cqe;
	if (want > max) {
		log_error(cq->cq.dev->log,
			  "verbs: %s holds %u completions in a queue, %u would "
			  "be needed: use more threads or fewer slots",
			  ibv_get_device_name(d->ctx->device), max, want);
		return -ENOBUFS;
	}
	for (size = (unsigned int)cq->ib->cqe; size < want;)
		size = size < max / 2 ? 2 * size : max;
	if (size > (unsigned int)cq->ib->cqe) {
		rc = ibv_resize_cq(cq->ib, (int)size);
		if (rc) {
			log_error(cq->cq.dev->log,
				  "verbs: a completion queue cannot grow to %u "
				  "entries (error %d)",
				  size, rc);
			return -ENOBUFS;
		}
	}
	cq->used = want;
	return 0;
}

int vb_cq_event(struct tp_cq *base, struct tp_event *out)
{
	return tp_pending_take(&vb_cq(base)->events, out) != NULL;
}

void vb_cq_reset_timer(struct vb_cq *cq, uint64_t at)
{
	struct itimerspec its = {
		.it_value = clock_timespec(at == CLOCK_NEVER ? 0 : at ?: 1),
	};

	cq->timer_at = at;
	timerfd_settime(cq->timerfd, TFD_TIMER_ABSTIME, &its, NULL);
}

void vb_cq_set_timer(struct vb_cq *cq, uint64_t at)
{
	if (at < cq->timer_at)
		vb_cq_reset_timer(cq, at);
}

void vb_cq_wake(struct tp_cq *base)
{
	uint64_t one = 1;
	ssize_t n = write(vb_cq(base)->wakefd, &one, sizeof(one));

	(void)n; /* the counter is full: wakefd is readable already */
}

int vb_cq_fd(struct tp_cq *base)
{
	return vb_cq(base)->epfd;
}
