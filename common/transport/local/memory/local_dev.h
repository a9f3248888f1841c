/* SPDX-License-Identifier: BSD-2-Clause */
/* local_dev.h - the device, and the peers that may access its memory directly. */
#ifndef LOCAL_DEV_H
#define LOCAL_DEV_H

#include <pthread.h>
#include <sys/queue.h>
#include <sys/types.h>

#include "common/util/container.h"
#include "common/transport/local/shared/local_drop.h"
#include "common/transport/local/memory/local_mr.h"
#include "common/transport/local/shared/local_shm.h"
#include "common/transport/sock.h"

struct local_guest;

struct local_dev {
	struct tp_dev dev;
	unsigned int handshake_ms;
	uid_t owner; /* user of servers to trust, in addition to root and our own user */
	bool probe; /* log no warning about untrusted servers */
	atomic_uint untrusted_uid; /* the last user that was logged; 0: none */
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

/* ---- peers with direct access (local_guest.c); any thread, takes dev->lock ---- */

bool local_guest_allowed(struct local_dev *dev, const struct tp_identity *id);
/* Adds a peer that may access our memory; side is its part of shared memory. NULL: no memory. */
struct local_guest *local_guest_new(struct local_dev *dev,
				    const struct local_side *side, int fd,
				    uid_t uid, const char *peer);
/*
 * Called when the connection has ended and the peer can see that. Returns true if an access of the
 * peer may still be running: then the device owns *shm and the socket until it ends.
 */
bool local_guest_end(struct local_dev *dev, struct local_guest *g,
		     struct local_shm *shm);
/*
 * Waits until all accesses with this key that are running now have finished, or their processes
 * have ended. If such a process is stopped, this takes without limit.
 */
void local_guests_wait(struct local_dev *dev, uint32_t key);
/* The device ends: nothing is registered. */
void local_guests_free(struct local_dev *dev);

#endif
