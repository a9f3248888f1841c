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
	char scheme[16]; /* "tcp", "verbs", "pvfs", "fault+tcp" */
	char host[256]; /* name or numeric, without brackets */
	uint16_t port;
};

/*
 * Parses uri. A missing port becomes default_port (0: the port is required). -EINVAL: not a server
 * address; *addr is unchanged.
 */
int addr_parse(const char *uri, uint16_t default_port, struct addr *addr);
/* Why addr_parse() rejects uri; NULL: it accepts uri. */
const char *addr_flaw(const char *uri, uint16_t default_port);
/* Writes the URI, at most len bytes including the NUL. Returns buf. */
const char *addr_format(const struct addr *addr, char *buf, size_t len);
/* Whether it is an address to listen on, which nobody can connect to: 0.0.0.0 or ::. */
bool addr_is_any(const struct addr *addr);
/* Whether the text of the address is a loopback address, which no other host can reach. */
bool addr_is_loopback(const struct addr *addr);

#endif
