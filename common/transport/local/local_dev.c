/* SPDX-License-Identifier: BSD-2-Clause */
/* local_dev.c - the provider's table and its device. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/transport/local/local.h"
#include "common/transport/provider.h"

#define HANDSHAKE_MS 5000u

static bool reach_forbidden(void)
{
	const char *s = secure_getenv("PVFS_LOCAL_CMA");

	return s && !strcmp(s, "off");
}

static int memory_open(struct local_dev *dev)
{
	int rc = local_mrs_init(&dev->mrs);

	if (rc)
		return rc;
	dev->drops = local_drops_new();
	if (dev->drops)
		return 0;
	local_mrs_destroy(&dev->mrs);
	return -ENOMEM;
}

static int local_dev_open(const struct tp_dev_attr *attr, struct tp_dev **out)
{
	static const struct tp_dev_attr defaults;
	struct local_dev *dev = calloc(1, sizeof(*dev));
	int rc;

	if (!dev)
		return -ENOMEM;
	if (!attr)
		attr = &defaults;
	rc = memory_open(dev);
	if (rc) {
		log_error(attr->log, "local: no shared memory: %s%s",
			  strerror(-rc),
			  rc == -EFBIG ? " (ulimit -f is too low)" : "");
		free(dev);
		return rc;
	}
	pthread_mutex_init(&dev->lock, NULL);
	TAILQ_INIT(&dev->guests);
	dev->dev.ops = &local_ops;
	dev->dev.log = attr->log;
	dev->dev.serves = TP_ATOMICS;
	dev->handshake_ms = attr->handshake_ms ?: HANDSHAKE_MS;
	dev->owner = attr->server_uid;
	dev->probe = attr->probe;
	dev->no_reach = reach_forbidden();
	*out = &dev->dev;
	return 0;
}

static void local_dev_close(struct tp_dev *base)
{
	struct local_dev *dev = local_dev(base);

	local_guests_free(dev);
	local_drops_leave(dev->drops);
	local_mrs_destroy(&dev->mrs);
	pthread_mutex_destroy(&dev->lock);
	free(dev);
}

static const struct tp_extra_ops local_extra_ops = {
	.cq_hold = local_cq_hold,
	.cq_release = local_cq_release,
	.req_identity = local_req_identity,
	.ep_identity = local_ep_identity,
	.ep_pass = local_ep_pass,
	.ep_take = local_ep_take,
	.ep_carry_max = local_ep_carry_max,
	.ep_join = local_ep_join,
};

const struct tp_ops local_ops = {
	.name = "local",
	.extra = &local_extra_ops,
	.dev_open = local_dev_open,
	.dev_close = local_dev_close,
	.mr_reg = local_mr_reg,
	.mr_dereg = local_mr_dereg,
	.mr_only = local_mr_only,
	.cq_open = local_cq_open,
	.cq_close = local_cq_close,
	.cq_abandon = local_cq_abandon,
	.cq_poll = local_cq_poll,
	.cq_event = sock_cq_event,
	.cq_wait = local_cq_wait,
	.cq_wake = sock_cq_wake,
	.cq_fd = sock_cq_fd,
	.cq_arm = local_cq_arm,
	.listen = local_listen,
	.listener_addr = sock_listener_addr,
	.unlisten = sock_unlisten,
	.reject = sock_reject,
	.ep_open = local_ep_open,
	.accept = local_accept,
	.connect = local_connect,
	.ep_close = local_ep_close,
	.post_recv = local_post_recv,
	.post_send = local_post_send,
};
