/* SPDX-License-Identifier: BSD-2-Clause */
/* local_dev.h - the device. */
#ifndef LOCAL_DEV_H
#define LOCAL_DEV_H

#include <pthread.h>
#include <sys/queue.h>
#include <sys/types.h>

#include "common/util/container.h"
#include "common/transport/local/shared/local_drop.h"
#include "common/transport/local/memory/local_mr.h"

struct local_guest;

struct local_dev {
	struct tp_dev dev;
	unsigned int handshake_ms;
	uid_t owner; /* user of servers to trust, in addition to root and our own user */
	bool probe; /* log no warning about untrusted servers */
	atomic_uint doubted; /* the last user that was logged; 0: none */
	bool no_reach; /* no direct access: everything goes through the rings */
	struct local_drops *drops;
	struct local_mrs mrs;
	pthread_mutex_t lock; /* protects guests and their shm */
	/* peers that may access our memory, or still do */
	TAILQ_HEAD(, local_guest) guests;
	uint64_t next_guest;
};

static inline struct local_dev *local_dev(struct tp_dev *dev)
{
	return container_of(dev, struct local_dev, dev);
}

static inline struct local_giver local_giver(struct tp_dev *dev, uid_t uid)
{
	return (struct local_giver){ local_dev(dev)->drops, uid };
}

#endif
