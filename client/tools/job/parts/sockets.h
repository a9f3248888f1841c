/* SPDX-License-Identifier: BSD-2-Clause */
/* sockets.h - addresses, TCP sockets and reserved ports of a job. */
#ifndef JOB_SOCKETS_H
#define JOB_SOCKETS_H

#include <stdbool.h>
#include <stdint.h>

/* An IPv4 address and a port, as text. */
struct job_addr {
	char ip[48];
	unsigned int port;
};

/* Reads "ADDRESS:PORT".  0 or -EINVAL. */
int job_parse_addr(const char *text, struct job_addr *addr);

/* Connects until the deadline; ip is a number.  Returns the socket, or -errno. */
int job_connect(const char *ip, unsigned int port, uint64_t deadline);
/*
 * Listens at ip; port 0: at a free one, which is set.  Returns the socket, or -errno.
 */
int job_listen(const char *ip, unsigned int *port);
/*
 * Reserves a port below those that the kernel assigns.  Returns the socket that holds
 * it, and *port; or -errno.  Another reservation of the port fails; listening with
 * SO_REUSEADDR does not.
 */
int port_reserve(const char *ip, unsigned int *port);

/*
 * Whether accept(2) failed because descriptors or memory ran out.  The connection still waits, so
 * the listener must not be polled for a moment, SOCKETS_PAUSE_MS.
 */
bool sockets_are_short(int err);
#define SOCKETS_PAUSE_MS 100

#endif
