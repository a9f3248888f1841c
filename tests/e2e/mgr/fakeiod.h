/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fakeiod.h - an iod that keeps sizes instead of data, on a thread of its
 * own; tests switch it off and on, hold its answers, and look inside.
 */
#ifndef FAKEIOD_H
#define FAKEIOD_H

#include <pthread.h>
#include <stdatomic.h>

#include "common/comm/rpc.h"

struct fakeiod {
	int port; /* chosen once, kept over down and up */
	struct tp_dev *dev;
	struct rpc_ctx *ctx;
	struct rpc_server *server;
	pthread_t thread;
	atomic_bool stop;
	/* how it shall behave */
	atomic_bool hold; /* answer nothing but FENCE, CLAIM, LEASE */
	atomic_bool mute; /* answer nothing at all */
	atomic_int fence_fail; /* answer FENCE with this error */
	atomic_int fail; /* answer RESIZE with this error */
	/* the requests seen so far; lock */
	pthread_mutex_t lock;
	struct fakeobj *objects;
	unsigned int resizes, removes, remove_calls, getsizes, fences, claims;
	unsigned int leases, fence_tries;
	unsigned int fences_at_lease; /* before the latest lease */
	uint64_t until, term; /* of the latest */
	uint64_t fenced[64]; /* sessions, the latest */
	unsigned int fence_flags; /* WIRE_FN_*, of the latest FENCE */
	struct rpc_req *held[256];
	unsigned int nheld;
};

void fakeiod_init(struct fakeiod *f);
void fakeiod_up(struct fakeiod *f);
void fakeiod_down(struct fakeiod *f);
void fakeiod_destroy(struct fakeiod *f);
/* Answers what is held, and holds no more. */
void fakeiod_release(struct fakeiod *f);

void fakeiod_set(struct fakeiod *f, uint64_t handle, uint64_t size);
/* -1: there is no such object. */
int64_t fakeiod_size(struct fakeiod *f, uint64_t handle);
unsigned int fakeiod_count(struct fakeiod *f);
/* The handles of its objects, at most cap; how many. */
unsigned int fakeiod_list(struct fakeiod *f, uint64_t *handle,
			  unsigned int cap);
/* The values of the latest manager. */
uint64_t fakeiod_term(struct fakeiod *f);
uint64_t fakeiod_until(struct fakeiod *f);
/* A counter, read under the lock. */
unsigned int fakeiod_get(struct fakeiod *f, const unsigned int *counter);

#endif
