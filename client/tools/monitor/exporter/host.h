/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * host.h - checks the Host header of a request, against DNS rebinding.  A hostile page in
 * a user's browser may make its own host name resolve to our address.  The browser would
 * then let the page read our answers.  So we answer only requests for a name or an address
 * that nobody else can make resolve to us.
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
 * Whether host, from a request ("head:9797", "[::1]"), is ours: localhost; a loopback
 * address; `at`, the numeric address at which the request arrived; the name of this
 * host, whole or only its first part; or one of hosts.
 */
bool host_is_ours(const struct host_names *hosts, const char *host,
		  const char *at);

#endif
