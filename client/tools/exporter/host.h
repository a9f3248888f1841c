/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * host.h - whom a request is meant for.  A page of a stranger's in somebody's browser may
 * have the stranger's name lead to us: it would read what we answer, as its own.  So a
 * request must have a name or an address that nobody else can give us.
 */
#ifndef EXPORTER_HOST_H
#define EXPORTER_HOST_H

#include <stdbool.h>
#include <stddef.h>

#define HOSTS_MAX 16

/* Names that are ours beside localhost and the name of this host. */
struct hosts {
	const char *name[HOSTS_MAX];
	unsigned int n;
};

/*
 * Whether host, what a request says ("head:9797", "[::1]"), is localhost, an address of
 * loopback, at (the numbers that the request came to), the name of this host, whole or its
 * first part, or one of hosts.
 */
bool host_is_ours(const struct hosts *hosts, const char *host, const char *at);

#endif
