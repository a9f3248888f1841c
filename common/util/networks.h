/* SPDX-License-Identifier: BSD-2-Clause */
/* networks.h - sets of hosts by address: "10.0.0.0/8 fd00::/8 10.1.2.3"; and the host of a peer. */
#ifndef NETWORKS_H
#define NETWORKS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/util/conf.h"

#define NETWORKS_MAX 64
#define PEER_HOST_LEN 16 /* bytes */

struct network {
	/* In network byte order; IPv4 as ::ffff:A.B.C.D; zeros after bits. */
	uint8_t addr[16];
	unsigned int bits;
};

struct networks {
	unsigned int n; /* 0: none */
	struct network net[NETWORKS_MAX];
};

/*
 * Parses networks separated by blanks or commas; an address alone is one host. -EINVAL: one is not
 * a network, or has bits set after its length, or there are more than NETWORKS_MAX; nets is
 * unchanged.
 */
int networks_parse(const char *text, struct networks *nets);
/*
 * Parses the value of the key into nets; a missing key leaves nets unchanged. Errors as for the
 * other conf_*() functions.
 */
int networks_conf(const struct conf_section *in, const char *key,
		  struct networks *nets);

/*
 * Whether the peer, named as by tp_req_peer(), is in one of the networks. A program on this host
 * that connected over a local transport is in none.
 */
bool networks_have(const struct networks *nets, const char *peer);
/* As networks_have(), for a host in network byte order. */
bool networks_have_addr(const struct networks *nets,
			const uint8_t addr[PEER_HOST_LEN]);
/* Parses a numeric address into the form of struct network. -EINVAL: not an address. */
int networks_addr(const char *text, uint8_t addr[PEER_HOST_LEN]);
/*
 * The same bytes for all peers of one host, of one IPv6 /64, or for all local programs of one user.
 * Zeros if the name has no address.
 */
void peer_host(const char *peer, uint8_t host[PEER_HOST_LEN]);
/* Whether the peer connected over a local transport, so the kernel reported its identity. */
bool peer_is_here(const char *peer);

#endif
