/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * local_group.h - a group of servers on this host to which a client sends requests together, and
 * whose answers it awaits together (tp_ep_attr.group).
 *
 * Waking a sleeping process costs some microseconds, as much as the rest of a request. So a client
 * wakes only one of the servers. That server wakes the others through the wake-up socket, which all
 * of them poll. Each server that answers decrements a counter on a page that all of them map. The
 * server that decrements it to zero wakes the client.
 *
 * The client owns the socket and the page. It creates them for its progress context, and passes
 * them to each server when it connects. A malicious client can harm only its own connections with
 * them: at most, it makes a server sometimes write one byte to a socket of the client.
 */
#ifndef LOCAL_GROUP_H
#define LOCAL_GROUP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

/* value of local_side.asleep: count the answer down, and wake the client at zero */
#define LOCAL_COUNTED 2u
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

/* Creates a wake-up socket; the caller closes it.  Returns 0 or -errno. */
int local_group_wakeup_open(struct local_group_wakeup *wakeup);
/*
 * Returns 0 if fd is a socket as local_group_wakeup_open() creates it: wakeup then owns fd.
 * Otherwise returns -EPROTO.
 */
int local_group_wakeup_adopt(struct local_group_wakeup *wakeup, int fd);
/* Wakes all servers that poll the wake-up socket. Never blocks, whatever happened to the socket. */
void local_group_wakeup_send(const struct local_group_wakeup *wakeup);
/*
 * Reads the unread wake-ups from the socket, then wakes all servers. The client calls it instead of
 * every LOCAL_WAKEUPS_UNREAD-th local_group_wakeup_send(), so that the socket does not fill up. A
 * server never reads from it, because a client could block that read forever.
 */
void local_group_wakeup_renew(const struct local_group_wakeup *wakeup);

/* Returns the fd for the servers, or -errno. The caller unmaps the page. */
int local_group_page_create(struct local_group_page **page);
/* -EPROTO: not a page as local_group_page_create() makes it. The caller keeps fd. */
int local_group_page_map(struct local_group_page **page, int fd);
void local_group_page_unmap(struct local_group_page *page);

#endif
