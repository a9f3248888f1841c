/* SPDX-License-Identifier: BSD-2-Clause */
/* sync_pool_int.h - the state of the pool that its files share. */
#ifndef SYNC_POOL_INT_H
#define SYNC_POOL_INT_H

#include <stdatomic.h>

#include "server/store/lane.h"
#include "server/store/sync_pool.h"

struct sync_client {
	atomic_uint refs; /* of the owner, of each work and of each wait */
	struct sync_client_lane {
		struct fairq_client turn; /* under the lane's lock */
		struct sync_client *client;
	} lane[SYNC_KINDS];
};

struct sync_pool {
	struct lane lane[SYNC_KINDS];
	struct timing flushed;
	struct sync_client *own;
	/* guards sync_group.waits and busy of all objects */
	pthread_mutex_t groups;
	pthread_mutex_t lock; /* of the fields below */
	pthread_cond_t call;
	bool stop;
	/* work may be waiting, so keeper calls lane_look(); set with the lock held */
	atomic_bool watched;
	bool keeps; /* the keeper thread was started */
	pthread_t keeper;
};

struct sync_client *sync_client_ref(struct sync_client *client);

#endif
