/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * local_group.h - servers on this host to which a client sends requests at the same time, and whose
 * answers it awaits together (tp_ep_attr.group).
 *
 * Waking a sleeping process costs its waker some microseconds, as much as the rest of a request. So
 * a client wakes only one of the servers. That server wakes the others through the wake-up socket, a socket
 * that all of them poll. The servers count their answers down on a page that all of them map. The
 * server that reaches zero wakes the client; the others do not.
 *
 * The client owns both. It makes them with its progress context and passes them to each server when
 * it connects. A client can harm only its own connections with them: the most it can make a server
 * do is to write one byte, now and then, into a socket that the client holds.
 */
#ifndef LOCAL_GROUP_H
#define LOCAL_GROUP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

#define LOCAL_COUNTED 2u /* local_side.asleep: count down, wake at zero */
#define LOCAL_WAKEUPS_UNREAD                                                   \
	32u /* unread datagrams; the socket holds some hundreds */
/* if the first server takes longer, the client wakes the others */
#define LOCAL_RELAY_MS 10u

struct local_group_page {
	/* answers still missing before the client is woken */
	_Atomic uint32_t missing;
};

/*
 * A bound socket keeps its abstract name, and no other socket can have the same name. So a datagram
 * to that name reaches this socket, wherever its owner connects it.
 */
struct local_group_wakeup {
	int fd; /* -1: none */
	socklen_t len;
	struct sockaddr_un name;
};

/* -errno; close it afterwards. */
int local_group_wakeup_open(struct local_group_wakeup *wakeup);
/* -EPROTO: not a socket as local_group_wakeup_open() makes it. 0: wakeup owns fd. */
int local_group_wakeup_adopt(struct local_group_wakeup *wakeup, int fd);
/* Wakes all servers that poll the wake-up socket. Never blocks, whatever happened to the socket. */
void local_group_wakeup_send(const struct local_group_wakeup *wakeup);
/*
 * Reads what is there, then wakes. The client calls it once in LOCAL_WAKEUPS_UNREAD. A server never
 * reads: two readers exclude each other, and the client could block a read forever.
 */
void local_group_wakeup_renew(const struct local_group_wakeup *wakeup);

/* Returns the fd for the servers, or -errno. The caller unmaps the page. */
int local_group_page_create(struct local_group_page **page);
/* -EPROTO: not a page as local_group_page_create() makes it. The caller keeps fd. */
int local_group_page_map(struct local_group_page **page, int fd);
void local_group_page_unmap(struct local_group_page *page);

#endif
