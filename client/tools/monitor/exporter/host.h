/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * host.h - the host that a request is meant for: a protection against DNS rebinding.  A
 * foreign page in a user's browser may make its own name lead to us, and would read our
 * answers as its own.  So a request must have a name or an address that nobody else can
 * direct to us.
 */
#ifndef EXPORTER_HOST_H
#define EXPORTER_HOST_H

#include <stdbool.h>
#include <stddef.h>

#define HOSTS_MAX 16

/* Our names, in addition to localhost and the name of this host. */
struct host_names {
	const char *name[HOSTS_MAX];
	unsigned int n;
};

/*
 * True: host, from a request ("head:9797", "[::1]"), is ours.  It is localhost; a
 * loopback address; at, the numeric address that the request came to; the name of this
 * host, whole or its first part; or one of hosts.
 */
bool host_is_ours(const struct host_names *hosts, const char *host,
		  const char *at);

#endif
