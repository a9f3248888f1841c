/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbs_mr.c - registered memory, and registered copies of messages that the device cannot gather:
 * they have more pieces than it accepts, or unregistered ones. Each cq keeps a bounded number of
 * bytes of copies for reuse.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "common/transport/verbs/verbs.h"

#define ACCESS_ALL                                                             \
	(TP_LOCAL_WRITE | TP_REMOTE_READ | TP_REMOTE_WRITE | TP_REMOTE_ATOMIC)

#define SMALLEST 4096u
#define KEPT_BYTES (8ul << 20)

static int ib_access(unsigned int access)
{
	int ib = 0;

	if (access & (TP_LOCAL_WRITE | TP_REMOTE_WRITE | TP_REMOTE_ATOMIC))
		ib |= IBV_ACCESS_LOCAL_WRITE;
	if (access & TP_REMOTE_READ)
		ib |= IBV_ACCESS_REMOTE_READ;
	if (access & TP_REMOTE_WRITE)
		ib |= IBV_ACCESS_REMOTE_WRITE;
	if (access & TP_REMOTE_ATOMIC)
		ib |= IBV_ACCESS_REMOTE_ATOMIC;
	return ib;
}

static void log_reg_failure(const struct vb_dev *d, size_t len, int error)
{
	struct rlimit rl = { 0 };

	getrlimit(RLIMIT_MEMLOCK, &rl);
	if (error == ENOMEM && rl.rlim_cur != RLIM_INFINITY)
		log_error(d->dev.log,
			  "verbs: cannot register %zu bytes: the limit of "
			  "locked memory is %lu KiB; raise it "
			  "(LimitMEMLOCK=infinity in a systemd unit, memlock "
			  "in /etc/security/limits.conf else)",
			  len, (unsigned long)rl.rlim_cur >> 10);
	else if (error == ENOMEM)
		log_error(d->dev.log,
			  "verbs: cannot register %zu bytes: memory or the "
			  "device's table of %d registrations is full",
			  len, d->attr.max_mr);
	else
		log_error(d->dev.log,
			  "verbs: cannot register %zu bytes (error %d)", len,
			  error);
}

struct ibv_mr *vb_mr_pin(struct vb_dev *d, void *addr, size_t len, int access)
{
	struct ibv_mr *ib = ibv_reg_mr(d->pd, addr, len, access);

	if (!ib)
		log_reg_failure(d, len, errno);
	return ib;
}

/* Whether a registration with this key ended recently. */
static bool is_stale(struct vb_dev *d, uint32_t rkey)
{
	bool found = false;
	unsigned int i;

	pthread_mutex_lock(&d->lock);
	for (i = 0; i < VB_FRESH && i < d->nended; i++)
		found |= rkey && d->ended[i] == rkey;
	pthread_mutex_unlock(&d->lock);
	return found;
}

static struct ibv_mr *pin_fresh(struct vb_dev *d, void *addr, size_t len,
				int access)
{
	struct ibv_mr *ib = vb_mr_pin(d, addr, len, access), *other;
	int tries;

	for (tries = 0; ib && tries < 8; tries++) {
		if (ib->lkey != TP_LKEY_NONE && !is_stale(d, ib->rkey))
			return ib;
		other = vb_mr_pin(d, addr, len, access);
		ibv_dereg_mr(ib);
		ib = other;
	}
	return ib;
}

/* Memory that is opened by a window has no remote rights itself. */
static int own_access(const struct vb_mr *mr, int ib)
{
	return mr->window_access
		       ? (ib & ~mr->window_access) | IBV_ACCESS_MW_BIND
		       : ib;
}

bool vb_dev_has_windows(const struct vb_dev *d)
{
	return !atomic_load(&d->no_windows) &&
	       d->attr.device_cap_flags & (IBV_DEVICE_MEM_WINDOW_TYPE_2A |
					   IBV_DEVICE_MEM_WINDOW_TYPE_2B);
}

int vb_mr_reg(struct tp_dev *dev, void *addr, size_t len, unsigned int access,
	      struct tp_mr **out)
{
	struct vb_dev *d = vb_dev(dev);
	int ib = ib_access(access);
	struct vb_mr *mr;

	if (!len || (access & ~(ACCESS_ALL | TP_VOLATILE | TP_LENT | TP_OWNED)))
		return -EINVAL;
	if (access & TP_VOLATILE)
		return access & ~(TP_LOCAL_WRITE | TP_VOLATILE) ? -EINVAL
								: -EOPNOTSUPP;
	mr = calloc(1, sizeof(*mr));
	if (!mr)
		return -ENOMEM;
	if (access & TP_OWNED && vb_dev_has_windows(d))
		mr->window_access = ib & ~IBV_ACCESS_LOCAL_WRITE;
	mr->ib = pin_fresh(d, addr, len, own_access(mr, ib));
	if (!mr->ib) {
		int rc = errno ? -errno : -ENOMEM;

		free(mr);
		return rc;
	}
	mr->writable = ib & IBV_ACCESS_LOCAL_WRITE;
	pthread_mutex_lock(&d->lock);
	LIST_INSERT_HEAD(&d->mrs, mr, link);
	pthread_mutex_unlock(&d->lock);
	mr->mr = (struct tp_mr){ dev, addr, len, mr->ib->lkey, mr->ib->rkey };
	*out = &mr->mr;
	return 0;
}

void vb_mr_end_window(struct vb_mr *mr)
{
	int rc;

	if (!mr->mw)
		return;
	LIST_REMOVE(mr, of_ep);
	rc = ibv_dealloc_mw(mr->mw);
	if (rc)
		log_error(mr->mr.dev->log,
			  "verbs: cannot free a memory window (error %d)", rc);
	mr->mw = NULL;
}

void vb_ep_end_windows(struct vb_ep *ep)
{
	struct vb_mr *mr;

	while ((mr = LIST_FIRST(&ep->windows)))
		vb_mr_end_window(mr);
}

void vb_mr_dereg(struct tp_mr *base)
{
	struct vb_mr *mr = container_of(base, struct vb_mr, mr);
	struct vb_dev *d = vb_dev(base->dev);
	int rc;

	vb_mr_end_window(mr);
	pthread_mutex_lock(&d->lock);
	LIST_REMOVE(mr, link);
	d->ended[d->nended++ % VB_FRESH] = base->rkey;
	pthread_mutex_unlock(&d->lock);
	rc = ibv_dereg_mr(mr->ib);
	if (rc)
		log_error(d->dev.log,
			  "verbs: memory does not deregister (error %d): the "
			  "device may still access it",
			  rc);
	free(mr);
}

static bool mr_covers(const struct vb_mr *mr, const struct tp_sge *sge)
{
	uintptr_t base = (uintptr_t)mr->mr.addr, at = (uintptr_t)sge->addr;

	return mr->mr.lkey == sge->lkey && mr->writable && at >= base &&
	       at - base <= mr->mr.len && sge->len <= mr->mr.len - (at - base);
}

bool vb_mr_can_receive(struct vb_dev *d, const struct tp_sge *sge)
{
	const struct vb_mr *mr;
	bool found = false;

	pthread_mutex_lock(&d->lock);
	LIST_FOREACH(mr, &d->mrs, link)
		found |= mr_covers(mr, sge);
	pthread_mutex_unlock(&d->lock);
	return found;
}

void vb_bounces_init(struct vb_bounces *b)
{
	unsigned int i;

	b->bytes = 0;
	for (i = 0; i < VB_CLASSES; i++)
		SLIST_INIT(&b->spare[i]);
}

static void bounce_free(struct vb_bounce *b)
{
	ibv_dereg_mr(b->mr);
	free(b->mem);
	free(b);
}

void vb_bounces_close(struct vb_bounces *all)
{
	struct vb_bounce *b;
	unsigned int i;

	for (i = 0; i < VB_CLASSES; i++) {
		while ((b = SLIST_FIRST(&all->spare[i]))) {
			SLIST_REMOVE_HEAD(&all->spare[i], link);
			bounce_free(b);
		}
	}
}

static struct vb_bounce *bounce_new(struct vb_cq *cq, unsigned int class)
{
	struct vb_bounce *b = malloc(sizeof(*b));
	size_t len = (size_t)SMALLEST << class;

	if (!b)
		return NULL;
	b->class = class;
	b->mem = aligned_alloc(SMALLEST, len);
	if (!b->mem)
		goto free_bounce;
	b->mr = vb_mr_pin(vb_dev(cq->cq.dev), b->mem, len, 0);
	if (b->mr)
		return b;
	free(b->mem);
free_bounce:
	free(b);
	return NULL;
}

struct vb_bounce *vb_bounce_get(struct vb_cq *cq, size_t len)
{
	struct vb_bounce *b;
	unsigned int class = 0;

	while (((size_t)SMALLEST << class) < len)
		class ++;
	if (class >= VB_CLASSES)
		return NULL;
	b = SLIST_FIRST(&cq->bounces.spare[class]);
	if (!b)
		return bounce_new(cq, class);
	SLIST_REMOVE_HEAD(&cq->bounces.spare[class], link);
	cq->bounces.bytes -= (size_t)SMALLEST << class;
	return b;
}

void vb_bounce_put(struct vb_cq *cq, struct vb_bounce *b)
{
	size_t len = (size_t)SMALLEST << b->class;

	if (cq->bounces.bytes + len > KEPT_BYTES) {
		bounce_free(b);
		return;
	}
	cq->bounces.bytes += len;
	SLIST_INSERT_HEAD(&cq->bounces.spare[b->class], b, link);
}
