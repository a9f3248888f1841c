/* SPDX-License-Identifier: BSD-2-Clause */
/* ports.h - free ports that stay reserved until a daemon listens there. */
#ifndef JOB_PORTS_H
#define JOB_PORTS_H

/*
 * Reserves a port below those that the kernel assigns.  Returns the socket that holds
 * it, and *port; or -errno.  Another reservation of the port fails; listening with
 * SO_REUSEADDR does not.
 */
int port_reserve(const char *ip, unsigned int *port);

#endif
