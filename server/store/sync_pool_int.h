/* SPDX-License-Identifier: BSD-2-Clause */
/* sync_pool_int.h - what the files of the pool share. */
#ifndef SYNC_POOL_INT_H
#define SYNC_POOL_INT_H

#include <stdatomic.h>

#include "server/store/lane.h"
#include "server/store/sync_pool.h"

struct sync_client {
	atomic_uint refs; /* the owner, each work and each wait */
	struct sync_client_lane {
		struct fairq_client turn; /* the lane's lock */
		struct sync_client *client;
	} lane[SYNC_KINDS];
};

struct sync_pool {
	struct lane lane[SYNC_KINDS];
	struct timing flushed;
	struct sync_client *own;
	pthread_mutex_t groups; /* waits of objects */
	pthread_mutex_t lock; /* the fields below */
	pthread_cond_t call;
	bool stop;
	atomic_bool watched; /* written with the lock */
	bool keeps; /* keeper was started */
	pthread_t keeper;
};

struct sync_client *sync_client_ref(struct sync_client *client);

#endif
