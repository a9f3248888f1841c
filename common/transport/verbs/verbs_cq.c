/* SPDX-License-Identifier: BSD-2-Clause */
/* verbs_cq.c - the completion queue: opening, sizing, polling. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/transport/verbs/verbs.h"

#define ENTRIES 256 /* initial size */
#define LOOK_NS 50000u /* interval between checks of the epoll set */
#define BUSY_POLLS 64u

static int nonblocking(int fd)
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
	rc = nonblocking(cq->cm->fd);
	if (!rc)
		rc = nonblocking(cq->chan->fd);
	if (!rc)
		rc = nonblocking(d->ctx->async_fd);
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

int vb_cq_open(struct tp_dev *dev, unsigned int depth, struct tp_cq **out)
{
	struct vb_cq *cq = calloc(1, sizeof(*cq));
	int rc;

	if (!cq)
		return -ENOMEM;
	cq->cq.dev = dev;
	cq->room = depth;
	cq->timer_at = CLOCK_NEVER;
	cq->held = calloc(VB_HELD, sizeof(*cq->held));
	cq->held_size = VB_HELD;
	if (!cq->held) {
		free(cq);
		return -ENOMEM;
	}
	vb_bounces_init(&cq->bounces);
	TAILQ_INIT(&cq->eps);
	TAILQ_INIT(&cq->leaving);
	TAILQ_INIT(&cq->flushing);
	TAILQ_INIT(&cq->events);
	TAILQ_INIT(&cq->byes);
	rc = queues_open(cq, vb_dev(dev));
	if (rc)
		goto free_cq;
	rc = vb_sources_open(cq);
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
	free(cq->held);
	free(cq);
	return rc;
}

/* Endpoints sent their disconnects when they were closed. */
void vb_cq_close(struct tp_cq *base)
{
	struct vb_cq *cq = vb_cq(base);
	struct vb_bye *bye;

	pthread_mutex_lock(&vb_dev(base->dev)->lock);
	LIST_REMOVE(cq, link);
	pthread_mutex_unlock(&vb_dev(base->dev)->lock);
	while ((bye = TAILQ_FIRST(&cq->byes)))
		vb_bye_end(bye);
	vb_bounces_close(&cq->bounces);
	vb_sources_close(cq);
	queues_close(cq);
	free(cq->slot);
	free(cq->held);
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

	vb_sources_close(cq);
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

/* The epoll set is due when idle, and from time to time when busy. */
static bool look_is_due(struct vb_cq *cq, int n)
{
	uint64_t now;

	if (n && ++cq->busy < BUSY_POLLS)
		return false;
	cq->busy = 0;
	now = clock_now();
	if (now < cq->look_at)
		return false;
	cq->look_at = now + LOOK_NS;
	return true;
}

int vb_cq_poll(struct tp_cq *base, struct tp_wc *wc, int max)
{
	struct vb_cq *cq = vb_cq(base);
	int n = vb_harvest(cq, wc, max);

	if (n < max)
		n += vb_flush(cq, wc + n, max - n);
	if (!look_is_due(cq, n))
		return n;
	vb_look(cq, 0);
	if (n < max)
		n += vb_harvest(cq, wc + n, max - n);
	if (n < max)
		n += vb_flush(cq, wc + n, max - n);
	return n;
}

int vb_cq_event(struct tp_cq *base, struct tp_event *out)
{
	return tp_pending_take(&vb_cq(base)->events, out) != NULL;
}
