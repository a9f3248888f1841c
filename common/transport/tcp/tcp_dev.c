/* SPDX-License-Identifier: BSD-2-Clause */
/* tcp_dev.c - the provider's table and its device. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/transport/provider.h"
#include "common/transport/tcp/tcp.h"
#include "common/util/usermem.h"

#define DEAD_PEER_MS 30000u
#define HANDSHAKE_MS 5000u

static int tcp_dev_open(const struct tp_dev_attr *attr, struct tp_dev **out)
{
	static const struct tp_dev_attr defaults;
	struct tcp_dev *dev = calloc(1, sizeof(*dev));
	int rc;

	if (!dev)
		return -ENOMEM;
	if (!attr)
		attr = &defaults;
	rc = tcp_mrs_init(&dev->mrs);
	if (rc) {
		free(dev);
		return rc;
	}
	dev->dev.ops = &tcp_ops;
	dev->dev.log = attr->log;
	dev->dev.serves = TP_ATOMICS;
	dev->dev.flaws = dev->flaws;
	pthread_mutex_init(&dev->flaw_lock, NULL);
	dev->dead_peer_ms = attr->dead_peer_ms ?: DEAD_PEER_MS;
	dev->handshake_ms = attr->handshake_ms ?: HANDSHAKE_MS;
	dev->zero_fd = usermem_open();
	tcp_pace_init(dev);
	*out = &dev->dev;
	return 0;
}

static void tcp_dev_close(struct tp_dev *base)
{
	struct tcp_dev *dev = container_of(base, struct tcp_dev, dev);

	if (dev->zero_fd >= 0)
		close(dev->zero_fd);
	tcp_mrs_destroy(&dev->mrs);
	pthread_mutex_destroy(&dev->flaw_lock);
	free(dev);
}

static const struct tp_extra_ops tcp_extra_ops = {
	.ep_quiet_ms = tcp_ep_quiet_ms,
	.ep_seal = tcp_ep_seal,
};

const struct tp_ops tcp_ops = {
	.name = "tcp",
	.extra = &tcp_extra_ops,
	.dev_open = tcp_dev_open,
	.dev_close = tcp_dev_close,
	.mr_reg = tcp_mr_reg,
	.mr_dereg = tcp_mr_dereg,
	.mr_only = tcp_mr_only,
	.cq_open = tcp_cq_open,
	.cq_close = tcp_cq_close,
	.cq_abandon = tcp_cq_abandon,
	.cq_poll = tcp_cq_poll,
	.cq_event = sock_cq_event,
	.cq_wait = tcp_cq_wait,
	.cq_wake = sock_cq_wake,
	.cq_fd = sock_cq_fd,
	.cq_arm = tcp_cq_arm,
	.listen = tcp_listen,
	.listener_addr = sock_listener_addr,
	.unlisten = sock_unlisten,
	.reject = sock_reject,
	.ep_open = tcp_ep_open,
	.accept = tcp_accept,
	.connect = tcp_connect,
	.ep_close = tcp_ep_close,
	.post_recv = tcp_post_recv,
	.post_send = tcp_post_send,
};
