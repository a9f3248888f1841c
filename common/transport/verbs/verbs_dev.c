/* SPDX-License-Identifier: BSD-2-Clause */
/* verbs_dev.c - the provider's table; opens a device and explains failures. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/transport/provider.h"
#include "common/transport/verbs/verbs.h"

#define DEAD_PEER_MS 30000u
#define HANDSHAKE_MS 5000u

/* for one of several devices: another can take over */
#define DEAD_RAIL_MS 5000u
#define MEMLOCK_LOW (64ul << 20)

/* Whether "NAME" or "NAME:PORT" means this device. *port 0: any. */
static bool is_wanted(const char *want, const char *name, unsigned int *port)
{
	size_t n = strcspn(want, ":");

	*port = want[n] ? (unsigned int)strtoul(want + n + 1, NULL, 10) : 0;
	return strlen(name) == n && !strncmp(want, name, n);
}

/*
 * Opens the first suitable device with a port that is up. -EINVAL: the device that the settings
 * name does not exist; -ENETDOWN: it is one of several, and down.
 */
static int device_choose(struct vb_dev *d, const char *want)
{
	struct ibv_device **list = ibv_get_device_list(NULL), **dev;
	unsigned int port = 0;
	bool seen = false;
	int rc = -ENODEV;

	for (dev = list; dev && *dev; dev++) {
		if (want && !is_wanted(want, ibv_get_device_name(*dev), &port))
			continue;
		seen = true;
		d->ctx = ibv_open_device(*dev);
		if (!d->ctx) {
			log_warn(d->dev.log, "verbs: cannot open %s: %m",
				 ibv_get_device_name(*dev));
			continue;
		}
		rc = vb_port_choose(d, port);
		if (!rc)
			break;
		ibv_close_device(d->ctx);
	}
	if (!list || !*list)
		log_error(d->dev.log,
			  "no RDMA device: the kernel shows none; load its "
			  "driver (mlx5_ib, ...; Soft-RoCE: rdma link add rxe0 "
			  "type rxe netdev eth0), or use fabric=auto or "
			  "tcp://");
	else if (rc)
		log_error(d->dev.log,
			  "no RDMA device: %s has %s port that is up%s; see "
			  "rdma link, or use tcp://",
			  want ? want : "none of them", want ? "no" : "a",
			  *d->want_gid ? " and has the GID of rdma_gid" : "");
	if (rc && list && *list && (want || *d->want_gid))
		rc = d->several && seen ? -ENETDOWN : -EINVAL;
	if (list)
		ibv_free_device_list(list);
	return rc;
}

/*
 * Since Linux 5.12 the kernel copies pinned pages at fork. On older kernels the library must
 * exclude them from the child, which splits mappings.
 */
static void fork_prepare(const struct log *log)
{
	if (ibv_is_fork_initialized() != IBV_FORK_DISABLED)
		return;
	if (ibv_fork_init())
		log_warn(log, "verbs: this kernel does not copy registered "
			      "memory at fork() and libibverbs was in use "
			      "already: do not fork while files are open, or "
			      "set RDMAV_FORK_SAFE=1");
}

static void warn_low_memlock(const struct log *log)
{
	struct rlimit rl;

	if (geteuid() == 0 || getrlimit(RLIMIT_MEMLOCK, &rl) ||
	    rl.rlim_cur == RLIM_INFINITY || rl.rlim_cur >= MEMLOCK_LOW)
		return;
	log_warn(log,
		 "verbs: only %lu KiB of memory may be locked: registering "
		 "buffers will fail; raise it (LimitMEMLOCK=infinity in a "
		 "systemd unit, memlock in /etc/security/limits.conf else)",
		 (unsigned long)rl.rlim_cur >> 10);
}

/* Reads the device's limits and checks that the connection manager works. */
static int device_prepare(struct vb_dev *d)
{
	struct rdma_event_channel *cm = rdma_create_event_channel();
	const char *name = ibv_get_device_name(d->ctx->device);
	int rc;

	if (!cm) {
		log_error(d->dev.log,
			  "no RDMA device: the connection manager does not "
			  "open (%m): modprobe rdma_ucm; /dev/infiniband/"
			  "rdma_cm must be readable and writable");
		return -ENODEV;
	}
	rdma_destroy_event_channel(cm);
	rc = ibv_query_device(d->ctx, &d->attr);
	if (rc) {
		log_error(d->dev.log, "verbs: %s does not tell its limits: %s",
			  name, strerror(rc));
		return -EIO;
	}
	d->max_sge = (unsigned int)d->attr.max_sge;
	if (d->max_sge > (unsigned int)d->attr.max_sge_rd &&
	    d->attr.max_sge_rd > 0)
		d->max_sge = (unsigned int)d->attr.max_sge_rd;
	if (d->max_sge > VB_SGE)
		d->max_sge = VB_SGE;
	d->pd = ibv_alloc_pd(d->ctx);
	if (d->pd)
		return 0;
	rc = -errno;
	log_error(d->dev.log,
		  "verbs: no protection domain on %s: %s; do other programs "
		  "hold all %d of them?",
		  name, strerror(-rc), d->attr.max_pd);
	return rc;
}

static void classes_take(struct vb_dev *d, const struct rdma_opt *opt)
{
	d->sl = (uint8_t)opt->service_level;
	d->tos = (uint8_t)opt->traffic_class;
	if (d->sl || d->tos)
		log_info(d->dev.log,
			 "verbs: service level %u, traffic class %u, as "
			 "configured (0: the system's)",
			 d->sl, d->tos);
	d->bulk_sl = (int)opt->bulk_service_level - 1;
	d->bulk_tos = (int)opt->bulk_traffic_class - 1;
	if (d->bulk_sl < 0 && d->bulk_tos < 0)
		return;
	d->dev.serves |= TP_CLASSES;
	log_info(d->dev.log,
		 "verbs: bulk data over pairs of its own: service level %d, "
		 "traffic class %d, as configured (-1: as requests)",
		 d->bulk_sl, d->bulk_tos);
}

static void settings_take(struct vb_dev *d, const struct tp_dev_attr *attr,
			  const struct rdma_opt *opt)
{
	d->dev.log = attr->log;
	d->dead_peer_ms = attr->dead_peer_ms ?: DEAD_PEER_MS;
	d->handshake_ms = attr->handshake_ms ?: HANDSHAKE_MS;
	strcpy(d->want_gid, opt->gid);
	classes_take(d, opt);
}

/* A silent peer is abandoned sooner, because there are other devices. */
static void one_of_several(struct vb_dev *d)
{
	d->several = true;
	if (d->dead_peer_ms > DEAD_RAIL_MS)
		d->dead_peer_ms = DEAD_RAIL_MS;
}

int vb_dev_open(const struct tp_dev_attr *attr, struct tp_dev **out)
{
	static const struct tp_dev_attr none;
	struct rdma_opt opt = { 0 };
	char device[RDMA_DEVICE_MAX];
	struct vb_dev *d;
	int n, rc;

	if (!attr)
		attr = &none;
	if (attr->rdma)
		opt = *attr->rdma;
	rc = rdma_opt_env(&opt, attr->log);
	if (rc)
		return rc;
	n = rdma_opt_device(&opt, attr->nth, device);
	if (n < 0)
		return n;
	d = calloc(1, sizeof(*d));
	if (!d)
		return -ENOMEM;
	d->dev.ops = &verbs_ops;
	settings_take(d, attr, &opt);
	if (n > 1)
		one_of_several(d);
	d->inline_try = VB_INLINE;
	pthread_mutex_init(&d->lock, NULL);
	fork_prepare(attr->log);
	/* if enabled, ibv_dereg_mr() needs the memory to be mapped */
	d->dev.pins = ibv_is_fork_initialized() != IBV_FORK_ENABLED;
	rc = device_choose(d, *device ? device : NULL);
	if (rc)
		goto free_dev;
	if (d->several)
		d->dev.unit = ibv_get_device_name(d->ctx->device);
	rc = device_prepare(d);
	if (rc)
		goto close_ctx;
	d->dev.serves |= TP_ALONE;
	if (d->attr.atomic_cap != IBV_ATOMIC_NONE)
		d->dev.serves |= TP_ATOMICS;
	warn_low_memlock(attr->log);
	vb_port_report(d);
	d->rnr_before = vb_rnr_count(d);
	*out = &d->dev;
	return 0;
close_ctx:
	ibv_close_device(d->ctx);
free_dev:
	pthread_mutex_destroy(&d->lock);
	free(d);
	return rc;
}

static void rnr_report(const struct vb_dev *d)
{
	uint64_t n = vb_rnr_count(d) - d->rnr_before;

	if (n)
		log_info(d->dev.log,
			 "verbs: %llu messages found no receive (RNR) on %s "
			 "since start, and were sent again: many clients sent "
			 "at once, or another program uses the port",
			 (unsigned long long)n,
			 ibv_get_device_name(d->ctx->device));
}

void vb_dev_close(struct tp_dev *dev)
{
	struct vb_dev *d = vb_dev(dev);

	rnr_report(d);
	ibv_dealloc_pd(d->pd);
	ibv_close_device(d->ctx);
	pthread_mutex_destroy(&d->lock);
	free(d);
}

static const struct tp_extra_ops verbs_extra_ops = {
	.srq_open = vb_srq_open,
	.srq_close = vb_srq_close,
	.srq_post_recv = vb_srq_post_recv,
	.srq_limit = vb_srq_limit,
};

const struct tp_ops verbs_ops = {
	.name = "verbs",
	.extra = &verbs_extra_ops,
	.several = true,
	.dev_open = vb_dev_open,
	.dev_close = vb_dev_close,
	.mr_reg = vb_mr_reg,
	.mr_dereg = vb_mr_dereg,
	.mr_only = vb_mr_only,
	.cq_open = vb_cq_open,
	.cq_close = vb_cq_close,
	.cq_abandon = vb_cq_abandon,
	.cq_poll = vb_cq_poll,
	.cq_event = vb_cq_event,
	.cq_wait = vb_cq_wait,
	.cq_wake = vb_cq_wake,
	.cq_fd = vb_cq_fd,
	.cq_arm = vb_cq_arm,
	.listen = vb_listen,
	.listener_addr = vb_listener_addr,
	.unlisten = vb_unlisten,
	.reject = vb_reject,
	.ep_open = vb_ep_open,
	.accept = vb_accept,
	.connect = vb_connect,
	.ep_close = vb_ep_close,
	.post_recv = vb_post_recv,
	.post_send = vb_post_send,
};
