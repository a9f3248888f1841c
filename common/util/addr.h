/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * addr.h - server addresses: SCHEME://HOST:PORT, where HOST may be [IPv6]. A scheme has lower-case
 * letters, digits and '+'.
 */
#ifndef ADDR_H
#define ADDR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ADDR_STRLEN 288

struct addr {
	/* a scheme such as "tcp", "verbs", "pvfs" or "fault+tcp" */
	char scheme[16];
	char host[256]; /* a name or a numeric address, without brackets */
	uint16_t port;
};

/*
 * Parses uri into *addr. If uri has no port, the port is default_port; if default_port is 0, uri
 * must have a port. -EINVAL if uri is not a server address; *addr is then unchanged.
 */
int addr_parse(const char *uri, uint16_t default_port, struct addr *addr);
/* Returns the reason why addr_parse() rejects uri, or NULL if it accepts uri. */
const char *addr_flaw(const char *uri, uint16_t default_port);
/* Writes the URI, at most len bytes including the NUL. Returns buf. */
const char *addr_format(const struct addr *addr, char *buf, size_t len);
/* Whether addr is 0.0.0.0 or ::, a server can listen on it, but nobody can connect to it. */
bool addr_is_any(const struct addr *addr);
/* Whether the host in addr, as text, is a loopback address, which no other host can reach. */
bool addr_is_loopback(const struct addr *addr);

#endif
