/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * local_drop.h - closing what a peer gave.  Its last close may take as long as
 * the peer likes: a socket lingers, a file of FUSE is flushed by who serves it,
 * memory is given back page by page.
 * So another thread does it, and nobody waits for that one.
 *
 * There are few such threads, and no two for one user: what a user gave holds up
 * only what that user gave.  What has to wait stays open, and there is always
 * room for it; who has too much waiting is not let in any more.  What all have
 * is bounded by what the process may have open (sock_listen.c).
 */
#ifndef LOCAL_DROP_H
#define LOCAL_DROP_H

#include <stdbool.h>
#include <sys/types.h>

#define LOCAL_DROPPERS 4u /* threads */
#define LOCAL_DROPS_MAX 1024u /* descriptors of one user */

/* A device's. */
struct local_drops;

/* NULL: no memory. */
struct local_drops *local_drops_new(void);
/* What waits is still closed. */
void local_drops_leave(struct local_drops *drops);

/* Who gave. */
struct local_giver {
	struct local_drops *drops;
	uid_t uid;
};

/* Too many of that user's wait. */
bool local_drops_full(const struct local_giver *from);

/* Closes fd, without a wait. */
void local_drop(const struct local_giver *from, int fd);

/* Ends the connection.  What the peer sent and nobody read goes as local_drop()
 * has it. */
void local_sock_close(const struct local_giver *from, int fd);

#endif
