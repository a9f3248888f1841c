/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * copyset_rig.h - a manager and some iods, simulated in one thread, and a session of a client.  The
 * manager has ring 1, whose copysets have one member each.  A copyset moves with its objects.
 */
#ifndef COPYSET_RIG_H
#define COPYSET_RIG_H

#include <pthread.h>
#include <stdatomic.h>

#include "client/lib/session/client_session.h"

#define RIG_IODS 3u
#define RIG_SETS 600u /* of ring 1: COPYSETS answers in three parts */
#define RIG_STRIPE 64u
#define RIG_OBJECT (8u * RIG_STRIPE)

struct copyset_rig {
	struct tp_dev *dev, *client_dev;
	struct rpc_ctx *ctx;
	struct rig_server {
		struct copyset_rig *rig;
		struct rpc_server *rpc;
		unsigned int number; /* 0: the manager; otherwise 1 + the iod's */
	} server[1 + RIG_IODS];
	pthread_t thread;
	atomic_bool stop;
	struct session s;

	pthread_mutex_t lock; /* protects all below */
	uint64_t revision;
	struct rig_row {
		uint32_t version;
		uint16_t iod; /* RIG_IODS: nobody serves */
		uint64_t revision;
		unsigned int late; /* requests until its iod knows it */
	} row[RIG_SETS];
	/* version that the iod serves; 0: none */
	uint32_t serves[RIG_IODS][RIG_SETS];
	uint8_t object[RIG_SETS][RIG_OBJECT];
	uint64_t size[RIG_SETS];
	int64_t counter[RIG_SETS];

	int manager_status; /* COPYSETS fails with it */
	/* requests that an iod refuses before it knows a version that copyset_rig_move() makes */
	unsigned int late;
	bool partly; /* the next WRITE is executed in part, and then refused */
	int iod_status; /* requests at iod 0 fail with it */
	/* requests: COPYSETS without its further parts; rows sent; refused; without a copyset */
	unsigned int questions, rows, refused, own;
};

void copyset_rig_open(struct copyset_rig *rig);
void copyset_rig_close(struct copyset_rig *rig);
/* Another iod serves the copyset from now on, under the next version. */
void copyset_rig_move(struct copyset_rig *rig, unsigned int set, uint16_t iod);

#endif
