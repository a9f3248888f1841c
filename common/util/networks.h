/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * networks.h - sets of hosts by their addresses: "10.0.0.0/8 fd00::/8 10.1.2.3",
 * and where a peer is.
 */
#ifndef NETWORKS_H
#define NETWORKS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/util/conf.h"

#define NETWORKS_MAX 64
#define PEER_HOST_LEN 16 /* bytes */

struct network {
	/* In the order of the net; an IPv4 one as ::ffff:A.B.C.D; zeros
	 * behind bits. */
	uint8_t addr[16];
	unsigned int bits;
};

struct networks {
	unsigned int n; /* 0: none */
	struct network net[NETWORKS_MAX];
};

/*
 * Networks with blanks or commas between them; an address alone is that host.
 * -EINVAL, with nets untouched: one of them is not a network, has bits behind its
 * length, or there are more than NETWORKS_MAX.
 */
int networks_parse(const char *text, struct networks *nets);
/* The key's value; left alone when it is missing, otherwise as the other conf_*(). */
int networks_conf(const struct conf_section *in, const char *key,
		  struct networks *nets);

/*
 * Is the peer, named as by tp_req_peer(), in one of them?  A program on this host, that
 * came by a way of this host, is in none.
 */
bool networks_have(const struct networks *nets, const char *peer);
/* The same of a host, in the order of the net. */
bool networks_have_addr(const struct networks *nets,
			const uint8_t addr[PEER_HOST_LEN]);
/* An address in numbers, as struct network has it; -EINVAL: it is none. */
int networks_addr(const char *text, uint8_t addr[PEER_HOST_LEN]);
/*
 * The same bytes for all peers of one host, or of one /64 of IPv6, or for all programs of one user
 * that came by a way of this host; zeros if the name says nothing.
 */
void peer_host(const char *peer, uint8_t host[PEER_HOST_LEN]);
/* It came by a way of this host alone, where the kernel says who it is. */
bool peer_is_here(const char *peer);

#endif
