/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * local_drop.h - closing descriptors that a peer sent. The last close of a descriptor may take as
 * long as the peer likes: a socket lingers, the server of a FUSE file flushes it, memory is freed
 * page by page. So another thread closes it, and nobody waits for that thread.
 *
 * There are few such threads, and never two for one user: slow descriptors of a user delay only
 * that user's others. Descriptors that wait stay open, and there is always room for them. A user
 * with too many of them cannot connect any more. The process's limit of open files bounds the total
 * (sock_listen.c).
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
/* Descriptors that still wait are closed later. */
void local_drops_leave(struct local_drops *drops);

/* The user who sent a descriptor. */
struct local_giver {
	struct local_drops *drops;
	uid_t uid;
};

/* Whether too many descriptors of that user wait. */
bool local_drops_full(const struct local_giver *from);

/*
 * Closes fd on another thread.  Without memory, or if no thread can be started, closes it here,
 * which may block.
 */
void local_drop(const struct local_giver *from, int fd);

/* Ends the connection. Unread descriptors that the peer sent are closed as by local_drop(). */
void local_sock_close(const struct local_giver *from, int fd);

#endif
