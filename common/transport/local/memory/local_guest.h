/* SPDX-License-Identifier: BSD-2-Clause */
/* local_guest.h - peers that may access the device's memory directly. */
#ifndef LOCAL_GUEST_H
#define LOCAL_GUEST_H

#include "common/transport/local/memory/local_dev.h"
#include "common/transport/local/shared/local_shm.h"
#include "common/transport/sock.h"

bool local_guest_allowed(struct local_dev *dev, const struct tp_identity *id);
/* Adds the peer with this side of the shared memory, socket and name. NULL: no memory. */
struct local_guest *local_guest_new(struct local_dev *dev,
				    const struct local_side *side, int fd,
				    uid_t uid, const char *peer);
/*
 * The connection ends, and the peer was told. True: an access may still be running; the device owns
 * *shm and the socket until it ends.
 */
bool local_guest_end(struct local_dev *dev, struct local_guest *g,
		     struct local_shm *shm);
/*
 * Waits until no peer accesses memory with this key that did so when this was called: it finished,
 * or its process ended. Has no bound: it waits for a stopped process.
 */
void local_guests_wait(struct local_dev *dev, uint32_t key);
/* The device ends: nothing is registered. */
void local_guests_free(struct local_dev *dev);

#endif
