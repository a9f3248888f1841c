/* SPDX-License-Identifier: BSD-2-Clause */
/* local_guest.h - peers that may reach into the device's memory. */
#ifndef LOCAL_GUEST_H
#define LOCAL_GUEST_H

#include "common/transport/local/memory/local_dev.h"
#include "common/transport/local/shared/local_shm.h"
#include "common/transport/sock.h"

bool local_guest_allowed(struct local_dev *dev, const struct tp_identity *id);
/* Of the peer with this side of the shared memory, socket and name.  NULL: no
 * memory. */
struct local_guest *local_guest_new(struct local_dev *dev,
				    const struct local_side *side, int fd,
				    uid_t uid, const char *peer);
/*
 * The connection ends, and the peer was told.  True: it may still be inside, and
 * *shm and the socket are kept by the device until it left.
 */
bool local_guest_end(struct local_dev *dev, struct local_guest *g,
		     struct local_shm *shm);
/*
 * Until no peer is inside by this key that was when this was called: it left,
 * or its process ended.  Has no bound: a stopped process keeps it.
 */
void local_guests_wait(struct local_dev *dev, uint32_t key);
/* The device ends: nothing is registered. */
void local_guests_free(struct local_dev *dev);

#endif
