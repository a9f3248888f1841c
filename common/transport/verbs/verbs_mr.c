/* SPDX-License-Identifier: BSD-2-Clause */
/* verbs_mr.c - registered memory. */
#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "common/transport/verbs/verbs.h"

#define ACCESS_ALL                                                             \
	(TP_LOCAL_WRITE | TP_REMOTE_READ | TP_REMOTE_WRITE | TP_REMOTE_ATOMIC)

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

static void explain(const struct vb_dev *d, size_t len, int error)
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

struct ibv_mr *vb_pin(struct vb_dev *d, void *addr, size_t len, int access)
{
	struct ibv_mr *ib = ibv_reg_mr(d->pd, addr, len, access);

	if (!ib)
		explain(d, len, errno);
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
	struct ibv_mr *ib = vb_pin(d, addr, len, access), *other;
	int tries;

	for (tries = 0; ib && tries < 8; tries++) {
		if (ib->lkey != TP_LKEY_NONE && !is_stale(d, ib->rkey))
			return ib;
		other = vb_pin(d, addr, len, access);
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
	if (access & TP_OWNED && vb_has_windows(d))
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

void vb_mr_dereg(struct tp_mr *base)
{
	struct vb_mr *mr = container_of(base, struct vb_mr, mr);
	struct vb_dev *d = vb_dev(base->dev);
	int rc;

	vb_window_end(mr);
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

static bool covers(const struct vb_mr *mr, const struct tp_sge *sge)
{
	uintptr_t base = (uintptr_t)mr->mr.addr, at = (uintptr_t)sge->addr;

	return mr->mr.lkey == sge->lkey && mr->writable && at >= base &&
	       at - base <= mr->mr.len && sge->len <= mr->mr.len - (at - base);
}

bool vb_may_receive(struct vb_dev *d, const struct tp_sge *sge)
{
	const struct vb_mr *mr;
	bool found = false;

	pthread_mutex_lock(&d->lock);
	LIST_FOREACH(mr, &d->mrs, link)
		found |= covers(mr, sge);
	pthread_mutex_unlock(&d->lock);
	return found;
}
