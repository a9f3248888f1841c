/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * local_drop.h - closing what a peer gave.  Its last close may take as long as
 * the peer likes: a socket lingers, a file of FUSE is flushed by who serves it.
 * So another thread does it, and nobody waits for that one.
 *
 * There are few such threads, and no two for one user: what a user gave holds up
 * only what that user gave.  What has to wait stays open; there is always room
 * for it, but nobody new is let in while too much waits.
 */
#ifndef LOCAL_DROP_H
#define LOCAL_DROP_H

#include <stdbool.h>
#include <sys/types.h>

#define LOCAL_DROPPERS 4u /* threads */
#define LOCAL_DROPS_MAX 1024u /* descriptors */

/* A device's. */
struct local_drops;

/* NULL: no memory. */
struct local_drops *local_drops_new(void);
/* What waits is still closed. */
void local_drops_leave(struct local_drops *drops);
/* Too many wait. */
bool local_drops_full(struct local_drops *drops);

/* Who gave. */
struct local_giver {
	struct local_drops *drops;
	uid_t uid;
};

/* Closes fd, without a wait. */
void local_drop(const struct local_giver *from, int fd);

#endif
