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
	uid_t owner; /* of servers, besides root and ourselves */
	bool probe; /* tells no one whom it does not believe */
	atomic_uint doubted; /* the last user that was told; 0: nobody was */
	bool no_reach; /* everything through the rings */
	struct local_drops *drops;
	struct local_mrs mrs;
	pthread_mutex_t lock; /* guests and their shm */
	TAILQ_HEAD(, local_guest) guests; /* who may reach in, or still is */
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
