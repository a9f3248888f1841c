/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * notify.h - who is told of the ends of requests, as struct sigevent says: each
 * request by itself, and all of a list together.
 */
#ifndef NOTIFY_H
#define NOTIFY_H

#include <signal.h>
#include <stdatomic.h>

/* A signal, or a thread that calls the function; or nothing. */
void notify(const struct sigevent *how);

/* Those of one lio_listio(LIO_NOWAIT). */
struct group {
	atomic_uint left; /* requests, and who adds some */
	struct sigevent how;
};

/* With one left, for the caller; NULL: no memory. */
struct group *group_new(const struct sigevent *how);
/* One more. */
static inline void group_get(struct group *g)
{
	atomic_fetch_add(&g->left, 1);
}
/* One less: the last one notifies, and frees g.  NULL: nothing. */
void group_put(struct group *g);

#endif
