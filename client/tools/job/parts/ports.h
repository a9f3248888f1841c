/* SPDX-License-Identifier: BSD-2-Clause */
/* ports.h - free ports that stay free until a daemon has taken them. */
#ifndef JOB_PORTS_H
#define JOB_PORTS_H

/* Below those that the kernel gives away.  The socket that holds it, and *port; -errno.
 * Who wants to reserve it too is refused; who listens there with SO_REUSEADDR is not. */
int port_reserve(const char *ip, unsigned int *port);

#endif
