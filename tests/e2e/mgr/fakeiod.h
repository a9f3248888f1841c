/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fakeiod.h - an iod that stores sizes instead of data, on its own thread. Tests switch it off and
 * on, hold back its replies, and inspect it.
 */
#ifndef FAKEIOD_H
#define FAKEIOD_H

#include <pthread.h>
#include <stdatomic.h>

#include "common/comm/rpc.h"
#include "common/dist/object_key.h"

#define FAKEIOD_ROWS 1024u

struct fakeiod {
	/* chosen once; the same after fakeiod_down() and fakeiod_up() */
	int port;
	struct tp_dev *dev;
	struct rpc_ctx *ctx;
	struct rpc_server *server;
	pthread_t thread;
	atomic_bool stop;
	/* how it behaves */
	atomic_bool hold; /* replies only to FENCE, CLAIM and LEASE */
	atomic_bool mute; /* sends no reply */
	atomic_int fence_fail; /* replies to FENCE with this error */
	atomic_int fail; /* replies to RESIZE with this error */
	/* chosen before fakeiod_up(): it knows copysets */
	bool copies;
	uint32_t index; /* of the iod, with copies */
	atomic_uint
		refuse; /* the next requests that it answers with WIRE_ECOPYSET */
	/* numbers of requests so far; under lock */
	pthread_mutex_t lock;
	struct fakeobj *objects;
	unsigned int resizes, removes, remove_calls, getsizes, fences, claims;
	unsigned int leases, fence_tries;
	/* FENCE requests before the latest lease */
	unsigned int fences_at_lease;
	uint64_t until, term; /* of the latest lease */
	uint64_t fenced[64]; /* the latest fenced sessions */
	unsigned int fence_flags; /* WIRE_FN_* of the latest FENCE */
	/* with copies: the rows with this iod, from the parts of the latest revision */
	struct {
		uint64_t revision;
		unsigned int parts, n;
		bool complete; /* the last part is there */
		struct wire_copyset set[FAKEIOD_ROWS];
	} rows;
	bool claimed; /* this process */
	unsigned int rows_at_lease; /* when the first lease of the process came */
	struct rpc_req *held[256];
	unsigned int nheld;
};

void fakeiod_init(struct fakeiod *f);
void fakeiod_up(struct fakeiod *f);
void fakeiod_down(struct fakeiod *f);
void fakeiod_destroy(struct fakeiod *f);
/* Sends the replies that it holds back, and holds back no more. */
void fakeiod_release(struct fakeiod *f);

void fakeiod_set(struct fakeiod *f, uint64_t handle, uint64_t size);
/* The same for an object of a copyset. */
void fakeiod_set_in(struct fakeiod *f, struct object_key key, uint64_t size);
/* Returns the size, or -1 if the object does not exist. */
int64_t fakeiod_size(struct fakeiod *f, uint64_t handle);
unsigned int fakeiod_count(struct fakeiod *f);
/* Stores at most cap handles of its objects.  Returns their number. */
unsigned int fakeiod_list(struct fakeiod *f, uint64_t *handle,
			  unsigned int cap);
/* Returns the term of the latest manager. */
uint64_t fakeiod_term(struct fakeiod *f);
uint64_t fakeiod_until(struct fakeiod *f);
/*
 * Returns the version in which it serves the copyset; 0: it does not.  Also 0 until the last part of
 * its rows is there.
 */
uint32_t fakeiod_version(struct fakeiod *f, uint32_t copyset);
/* Reads a counter under the lock. */
unsigned int fakeiod_get(struct fakeiod *f, const unsigned int *counter);

#endif
