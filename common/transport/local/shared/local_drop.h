/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * local_drop.h - closes descriptors that a peer sent. The last close(2) of a descriptor may take as
 * long as the peer wants: a socket lingers, the server of a FUSE file flushes it, memory is freed
 * page by page. So another thread closes them, and no thread waits for it.
 *
 * There are LOCAL_DROPPERS such threads. At most one of them works for a user at a time, so slow
 * descriptors of one user do not delay those of others. A descriptor stays open while it waits for
 * its thread. A user with more than LOCAL_DROPS_MAX waiting descriptors cannot connect. The
 * process's limit of open files bounds the total (sock_listen.c).
 */
#ifndef LOCAL_DROP_H
#define LOCAL_DROP_H

#include <stdbool.h>
#include <sys/types.h>

#define LOCAL_DROPPERS 4u /* threads */
#define LOCAL_DROPS_MAX 1024u /* waiting descriptors of one user */

/* The waiting descriptors of a device. */
struct local_drops;

/* NULL: no memory. */
struct local_drops *local_drops_new(void);
/* Releases drops.  Its threads close the descriptors that still wait, and then free drops. */
void local_drops_leave(struct local_drops *drops);

/* The user who sent a descriptor. */
struct local_giver {
	struct local_drops *drops;
	uid_t uid;
};

/* Returns whether the user already has LOCAL_DROPS_MAX waiting descriptors. */
bool local_drops_full(const struct local_giver *from);

/*
 * Passes fd to another thread, which closes it.  Without memory, or if no thread can be created,
 * closes fd in the calling thread, which may block.
 */
void local_drop(const struct local_giver *from, int fd);

/* Shuts the socket fd down and closes it; by local_drop() if it contains unread descriptors. */
void local_sock_close(const struct local_giver *from, int fd);

#endif
