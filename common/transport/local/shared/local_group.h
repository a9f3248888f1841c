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
 * as it connects.  What a client does with them meets its own connections only:
 * all that it can have a server do is to put one byte, now and then, into a socket
 * that it holds itself.
 */
#ifndef LOCAL_GROUP_H
#define LOCAL_GROUP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

#define LOCAL_COUNTED 2u /* local_side.asleep: count down, ring at zero */
#define LOCAL_STRIKES 32u /* unread; the socket holds some hundreds */
#define LOCAL_RELAY_MS 10u /* the first server takes that long: no more trust */

struct local_page {
	_Atomic uint32_t missing; /* answers, until the client is woken */
};

/*
 * A bound socket has its abstract name for good, and nobody else can have it: so
 * a strike at that name comes to this socket, wherever its owner connects it.
 */
struct local_gong {
	int fd; /* -1: none */
	socklen_t len;
	struct sockaddr_un name;
};

/* -errno; to be closed. */
int local_gong_open(struct local_gong *gong);
/* -EPROTO: no socket as local_gong_open() makes.  0: fd is gong's. */
int local_gong_take(struct local_gong *gong, int fd);
/* Wakes all who listen; never blocks, whatever the socket became. */
void local_gong_strike(const struct local_gong *gong);
/*
 * The same after reading what is there: the client's, once in LOCAL_STRIKES.  A
 * server never reads: two readers exclude each other, and the client could be
 * one that never ends.
 */
void local_gong_renew(const struct local_gong *gong);

/* fd for the others, or -errno; unmap the page. */
int local_page_create(struct local_page **page);
/* -EPROTO: not what local_page_create() makes.  fd stays the caller's. */
int local_page_map(struct local_page **page, int fd);
void local_page_unmap(struct local_page *page);

#endif
