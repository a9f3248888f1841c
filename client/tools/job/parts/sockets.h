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
 * Listens at ip and *port; 0: at a free port, to which *port is set.  Returns a socket or -errno.
 */
int job_listen(const char *ip, unsigned int *port);
/*
 * Reserves a port below those that the kernel assigns, and sets *port.  Returns the socket that
 * holds the reservation, or -errno.  As long as it is open, another port_reserve() does not get the
 * port, but a program can listen there with SO_REUSEADDR.
 */
int port_reserve(const char *ip, unsigned int *port);

/*
 * Returns whether accept(2) failed with err because there are no descriptors or no memory.  The
 * connection still waits, so the caller must not poll the listener for SOCKETS_PAUSE_MS.
 */
bool sockets_are_short(int err);
#define SOCKETS_PAUSE_MS 100

#endif
