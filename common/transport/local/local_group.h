/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * local_group.h - servers of this host that a client asks at once and waits
 * for together (tp_ep_attr.group).
 *
 * To wake a process that sleeps costs some microseconds of its waker's time, as
 * much as all the rest of a request.  So a client wakes one of the servers only,
 * which passes it on: it strikes the gong, a socket that all of them listen
 * to.  And the servers count their answers down on a page that all of them map:
 * who comes to zero wakes the client, the others do not.
 *
 * Both are the client's: made with its progress context, passed to each server
 * as it connects.  What a client does with them meets its own connections only.
 */
#ifndef LOCAL_GROUP_H
#define LOCAL_GROUP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define LOCAL_COUNTED 2u /* local_side.asleep: count down, ring at zero */
#define LOCAL_STRIKES 32u /* unread; the socket holds some hundreds */
#define LOCAL_RELAY_MS 10u /* the first server takes that long: no more trust */

struct local_page {
	_Atomic uint32_t missing; /* answers, until the client is woken */
};

/* -errno; a descriptor, to be closed. */
int local_gong_open(void);
/* -EPROTO: no socket as local_gong_open() makes.  fd stays the caller's. */
int local_gong_check(int fd);
/* Wakes all who listen; never blocks, whatever fd became. */
void local_gong_strike(int fd);
/*
 * The same after reading what is there: the client's, once in LOCAL_STRIKES.  A
 * server never reads: two readers exclude each other, and the client could be
 * one that never ends.
 */
void local_gong_renew(int fd);

/* fd for the others, or -errno; unmap the page. */
int local_page_create(struct local_page **page);
/* -EPROTO: not what local_page_create() makes.  fd stays the caller's. */
int local_page_map(struct local_page **page, int fd);
void local_page_unmap(struct local_page *page);

#endif
