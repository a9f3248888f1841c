/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * notify.h - notifies the program (struct sigevent) when a POSIX AIO request completes, or all
 * requests of one lio_listio().
 */
#ifndef NOTIFY_H
#define NOTIFY_H

#include <signal.h>
#include <stdatomic.h>

/* Sends a signal, starts a thread that calls the function, or does nothing. */
void notify(const struct sigevent *how);

/* The AIO requests of one lio_listio(LIO_NOWAIT). */
struct notify_group {
	atomic_uint pending; /* requests, and the thread that adds them */
	struct sigevent how;
};

/* Starts with one reference, for the caller.  NULL: no memory. */
struct notify_group *notify_group_new(const struct sigevent *how);
/* Adds a reference. */
static inline void notify_group_get(struct notify_group *g)
{
	atomic_fetch_add(&g->pending, 1);
}
/* Drops a reference; the last one notifies, and frees g.  NULL is permitted. */
void notify_group_put(struct notify_group *g);

#endif
