/* SPDX-License-Identifier: BSD-2-Clause */
/* networks.c - see networks.h. */
#include "common/util/networks.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/number.h"

#define BITS 128u
#define V4_BITS 32u /* 96 bits precede an IPv4 address */

static int parse_addr(const char *text, uint8_t addr[16], unsigned int *max)
{
	struct in_addr v4;

	*max = BITS;
	if (inet_pton(AF_INET6, text, addr) == 1)
		return 0;
	if (inet_pton(AF_INET, text, &v4) != 1)
		return -EINVAL;
	*max = V4_BITS;
	memset(addr, 0, 10);
	memset(&addr[10], 0xff, 2);
	memcpy(&addr[12], &v4, sizeof(v4));
	return 0;
}

int networks_addr(const char *text, uint8_t addr[16])
{
	unsigned int max;

	return parse_addr(text, addr, &max);
}

static int parse_bits(const char *text, unsigned int max, unsigned int *bits)
{
	uint64_t n = max;

	if (text && number_parse(text, max, &n))
		return -EINVAL;
	*bits = (unsigned int)n;
	return 0;
}

static bool same_bits(const uint8_t *a, const uint8_t *b, unsigned int bits)
{
	unsigned int bytes = bits / 8, rest = bits % 8;
	uint8_t mask = (uint8_t)(0xff00 >> rest);

	return !memcmp(a, b, bytes) &&
	       (!rest || !((a[bytes] ^ b[bytes]) & mask));
}

/* 10.1.2.3/8 is more likely a mistake than a network. */
static bool is_whole(const struct network *net)
{
	for (unsigned int i = net->bits; i < BITS; i++) {
		if (net->addr[i / 8] & 0x80 >> i % 8)
			return false;
	}
	return true;
}

static int parse_one(char *word, struct network *net)
{
	char *bits = strchr(word, '/');
	unsigned int max;
	int rc;

	if (bits)
		*bits++ = '\0';
	rc = parse_addr(word, net->addr, &max);
	if (!rc)
		rc = parse_bits(bits, max, &net->bits);
	if (rc)
		return rc;
	net->bits += BITS - max;
	return is_whole(net) ? 0 : -EINVAL;
}

static int parse_words(char *text, struct networks *nets)
{
	char *save, *word = strtok_r(text, ", \t", &save);
	int rc = 0;

	for (; word && !rc; word = strtok_r(NULL, ", \t", &save))
		rc = nets->n < NETWORKS_MAX
			     ? parse_one(word, &nets->net[nets->n++])
			     : -EINVAL;
	return rc ? rc : nets->n ? 0 : -EINVAL;
}

int networks_parse(const char *text, struct networks *nets)
{
	struct networks all = { 0 };
	char *copy = strdup(text);
	int rc = copy ? parse_words(copy, &all) : -ENOMEM;

	free(copy);
	if (!rc)
		*nets = all;
	return rc;
}

int networks_conf(const struct conf_section *in, const char *key,
		  struct networks *nets)
{
	const char *text = conf_get(in, key);
	int rc = text ? networks_parse(text, nets) : 0;

	return rc != -EINVAL ? rc
			     : conf_complain(in, key,
					     "write networks, as 10.0.0.0/8 "
					     "fd00::/8 10.1.2.3, at most 64");
}

/* Extracts the address from "NAME HOST:PORT" or "NAME [HOST]:PORT". */
static int peer_addr(const char *peer, uint8_t addr[16])
{
	char host[INET6_ADDRSTRLEN];
	const char *from = strchr(peer, ' '), *to;

	if (!from)
		return -EINVAL;
	from += from[1] == '[' ? 2 : 1;
	to = from[-1] == '[' ? strchr(from, ']') : strchr(from, ':');
	if (!to || (size_t)(to - from) >= sizeof(host))
		return -EINVAL;
	memcpy(host, from, (size_t)(to - from));
	host[to - from] = '\0';
	host[strcspn(host, "%")] = '\0'; /* the interface of fe80:: addresses */
	return networks_addr(host, addr);
}

bool networks_have_addr(const struct networks *nets,
			const uint8_t addr[PEER_HOST_LEN])
{
	for (unsigned int i = 0; i < nets->n; i++) {
		const struct network *net = &nets->net[i];

		if (same_bits(net->addr, addr, net->bits))
			return true;
	}
	return false;
}

bool networks_have(const struct networks *nets, const char *peer)
{
	uint8_t addr[PEER_HOST_LEN];

	return !peer_addr(peer, addr) && networks_have_addr(nets, addr);
}

/* For "local pid 12 uid 1000 at ...": no IPv6 address begins with bytes 255 1. */
static void user_host(const char *peer, uint8_t host[PEER_HOST_LEN])
{
	const char *uid = strstr(peer, " uid ");
	uint32_t n = uid ? (uint32_t)strtoul(uid + 5, NULL, 10) : 0;

	memset(host, 0, PEER_HOST_LEN);
	host[0] = 255;
	host[1] = 1;
	memcpy(&host[12], &n, sizeof(n));
}

void peer_host(const char *peer, uint8_t host[PEER_HOST_LEN])
{
	static const uint8_t v4[12] = { [10] = 0xff, 0xff };

	if (peer_is_here(peer)) {
		user_host(peer, host);
		return;
	}
	if (peer_addr(peer, host))
		memset(host, 0, PEER_HOST_LEN);
	else if (memcmp(host, v4, sizeof(v4)))
		memset(&host[8], 0, 8);
}

bool peer_is_here(const char *peer)
{
	const char *from = strchr(peer, ' ');

	return from && !strncmp(from, " pid ", 5);
}
