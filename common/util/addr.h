/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * addr.h - server addresses: SCHEME://HOST:PORT, HOST may be [IPv6].  A scheme
 * is lower-case letters, digits and '+'.
 */
#ifndef ADDR_H
#define ADDR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ADDR_STRLEN 288

struct addr {
	char scheme[16]; /* "tcp", "verbs", "pvfs", "fault+tcp" */
	char host[256]; /* name or numeric, no brackets */
	uint16_t port;
};

/*
 * Parses uri; a missing port becomes default_port (0: the port is required).
 * -EINVAL, and *addr untouched, if it is not a server address.
 */
int addr_parse(const char *uri, uint16_t default_port, struct addr *addr);
/* Why addr_parse() refuses it; NULL: it does not. */
const char *addr_flaw(const char *uri, uint16_t default_port);
/* Writes the URI, at most len bytes with its NUL; returns buf. */
const char *addr_format(const struct addr *addr, char *buf, size_t len);
/* No other host reaches it, as far as its text says. */
bool addr_is_loopback(const struct addr *addr);

#endif
