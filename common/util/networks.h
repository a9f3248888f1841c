/* SPDX-License-Identifier: BSD-2-Clause */
/* networks.h - sets of hosts by address: "10.0.0.0/8 fd00::/8 10.1.2.3"; and the host of a peer. */
#ifndef NETWORKS_H
#define NETWORKS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/util/conf.h"

#define NETWORKS_MAX 64
#define PEER_HOST_LEN 16 /* bytes of an address */

struct network {
	/* In network byte order; IPv4 as ::ffff:A.B.C.D; zeros after bits. */
	uint8_t addr[16];
	unsigned int bits;
};

struct networks {
	/* number of networks; 0 means that no network was set */
	unsigned int n;
	struct network net[NETWORKS_MAX];
};

/*
 * Parses networks separated by blanks or commas. An address alone is one host. Returns -EINVAL and
 * leaves nets unchanged if one of them is not a network or has bits set after its length, or if
 * there are more than NETWORKS_MAX.
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
/* Parses a numeric address into the form of struct network. -EINVAL if text is not an address. */
int networks_addr(const char *text, uint8_t addr[PEER_HOST_LEN]);
/*
 * Sets host to the same bytes for all peers of one host, of one IPv6 /64, or for all local programs
 * of one user. Sets zeros if the name of the peer has no address.
 */
void peer_host(const char *peer, uint8_t host[PEER_HOST_LEN]);
/* Whether the peer connected over a local transport, so the kernel reported its identity. */
bool peer_is_here(const char *peer);

#endif
