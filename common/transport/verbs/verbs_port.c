/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbs_port.c - chooses port, address (GID) and MTU, and reports why; makes socket addresses for
 * the connection manager. No RDMA device has a loopback address. A loopback address in the
 * configuration stands for the device's own address, so that a file system on one host can use the
 * same configuration with every transport.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/transport/verbs/verbs.h"

#define GIDS_MAX 512

/* A higher rank is better; NO_USE: unusable. */
enum rank { NO_USE, LINK_LOCAL, ROCE_V1, NATIVE, GLOBAL_V6, MAPPED_V4 };

static const char *const reasons[] = {
	[NO_USE] = "none",
	[LINK_LOCAL] = "link-local: there is no other",
	[ROCE_V1] = "RoCE v1: there is no v2",
	[NATIVE] = "the port's own",
	[GLOBAL_V6] = "RoCE v2, IPv6: there is no IPv4 one",
	[MAPPED_V4] = "RoCE v2 with an IPv4 address: preferred",
};

static bool is_mapped(const union ibv_gid *gid)
{
	return IN6_IS_ADDR_V4MAPPED((const struct in6_addr *)(const void *)gid);
}

static enum rank gid_rank(const struct ibv_gid_entry *e)
{
	static const union ibv_gid zero;

	if (!memcmp(&e->gid, &zero, sizeof(zero)))
		return NO_USE;
	if (e->gid_type == IBV_GID_TYPE_IB)
		return NATIVE;
	if (e->gid.raw[0] == 0xfe && (e->gid.raw[1] & 0xc0) == 0x80)
		return LINK_LOCAL;
	if (e->gid_type != IBV_GID_TYPE_ROCE_V2)
		return ROCE_V1;
	return is_mapped(&e->gid) ? MAPPED_V4 : GLOBAL_V6;
}

/* want_gid is "3", the index in the table, or the IP address of the entry. */
static bool gid_wanted(const struct vb_dev *d, const struct ibv_gid_entry *e)
{
	union ibv_gid gid = { .raw = { [10] = 0xff, [11] = 0xff } };
	const char *want = d->want_gid;

	if (!*want)
		return true;
	if (inet_pton(AF_INET, want, gid.raw + 12) == 1 ||
	    inet_pton(AF_INET6, want, gid.raw) == 1)
		return !memcmp(&e->gid, &gid, sizeof(gid));
	return e->gid_index == strtoul(want, NULL, 10);
}

/* The first of the port's GIDs with the highest rank. */
static enum rank gid_choose(struct vb_dev *d, uint8_t port,
			    struct ibv_gid_entry *best)
{
	struct ibv_gid_entry *list = calloc(GIDS_MAX, sizeof(*list));
	enum rank top = NO_USE;
	ssize_t n, i;

	if (!list)
		return NO_USE;
	n = ibv_query_gid_table(d->ctx, list, GIDS_MAX, 0);
	for (i = 0; i < n; i++) {
		if (list[i].port_num != port || !gid_wanted(d, &list[i]) ||
		    gid_rank(&list[i]) <= top)
			continue;
		top = gid_rank(&list[i]);
		*best = list[i];
	}
	free(list);
	return top;
}

/* InfiniBand: the address of the network device on the port. */
static void address_of_netdev(struct vb_dev *d)
{
	struct ifaddrs *all, *ifa;

	if (getifaddrs(&all))
		return;
	for (ifa = all; ifa; ifa = ifa->ifa_next) {
		if (!ifa->ifa_addr || ifa->ifa_addr->sa_family != AF_INET ||
		    if_nametoindex(ifa->ifa_name) != d->gid.ndev_ifindex)
			continue;
		memcpy(&d->sa, ifa->ifa_addr, sizeof(struct sockaddr_in));
		((struct sockaddr_in *)(void *)&d->sa)->sin_port = 0;
		break;
	}
	freeifaddrs(all);
}

/* The IP address under which the connection manager finds the port. */
static void address_of_gid(struct vb_dev *d)
{
	struct sockaddr_in *v4 = (void *)&d->sa;
	struct sockaddr_in6 *v6 = (void *)&d->sa;

	memset(&d->sa, 0, sizeof(d->sa));
	if (d->gid.gid_type == IBV_GID_TYPE_IB) {
		address_of_netdev(d);
	} else if (is_mapped(&d->gid.gid)) {
		v4->sin_family = AF_INET;
		memcpy(&v4->sin_addr, d->gid.gid.raw + 12, 4);
	} else {
		v6->sin6_family = AF_INET6;
		v6->sin6_scope_id = d->gid.ndev_ifindex;
		memcpy(&v6->sin6_addr, d->gid.gid.raw, 16);
	}
}

static bool port_take(struct vb_dev *d, uint8_t port)
{
	if (ibv_query_port(d->ctx, port, &d->port_attr) ||
	    d->port_attr.state != IBV_PORT_ACTIVE ||
	    gid_choose(d, port, &d->gid) == NO_USE)
		return false;
	d->port = port;
	address_of_gid(d);
	return true;
}

bool vb_port_is_up(const struct vb_dev *d)
{
	struct ibv_port_attr attr;

	return !ibv_query_port(d->ctx, d->port, &attr) &&
	       attr.state == IBV_PORT_ACTIVE;
}

int vb_port_choose(struct vb_dev *d, unsigned int want)
{
	struct ibv_device_attr attr;
	unsigned int port;

	if (ibv_query_device(d->ctx, &attr))
		return -ENODEV;
	for (port = 1; port <= attr.phys_port_cnt; port++) {
		if ((!want || want == port) && port_take(d, (uint8_t)port))
			return 0;
	}
	return -ENODEV;
}

static unsigned int mtu_bytes(enum ibv_mtu mtu)
{
	return 128u << mtu;
}

void vb_port_report(const struct vb_dev *d)
{
	char gid[INET6_ADDRSTRLEN];
	bool less = d->port_attr.active_mtu < d->port_attr.max_mtu;

	inet_ntop(AF_INET6, d->gid.gid.raw, gid, sizeof(gid));
	log_info(d->dev.log,
		 "verbs: %s port %u, GID %u %s (%s), MTU %u%s, %u pieces a "
		 "work request",
		 ibv_get_device_name(d->ctx->device), d->port, d->gid.gid_index,
		 gid,
		 *d->want_gid ? "as configured" : reasons[gid_rank(&d->gid)],
		 mtu_bytes(d->port_attr.active_mtu),
		 less ? " (less than the port could: the link or the network "
			"device's MTU bounds it)"
		      : " (the port's largest)",
		 d->max_sge);
}

bool vb_port_requery(struct vb_dev *d)
{
	union ibv_gid before = d->gid.gid;

	if (!port_take(d, d->port))
		return false;
	vb_port_report(d);
	return !memcmp(&before, &d->gid.gid, sizeof(before));
}

static uint64_t read_counter(const struct vb_dev *d, const char *name)
{
	unsigned long long n = 0;
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/ports/%u/hw_counters/%s",
		 d->ctx->device->ibdev_path, d->port, name);
	file = fopen(path, "re");
	if (!file)
		return 0;
	if (fscanf(file, "%llu", &n) != 1)
		n = 0;
	fclose(file);
	return n;
}

/* The counter's names on rxe and on mlx5. */
uint64_t vb_rnr_count(const struct vb_dev *d)
{
	return read_counter(d, "send_rnr_err") +
	       read_counter(d, "out_of_buffer");
}

static bool is_loopback(const struct sockaddr_storage *sa)
{
	const struct sockaddr_in *v4 = (const void *)sa;
	const struct sockaddr_in6 *v6 = (const void *)sa;

	if (sa->ss_family == AF_INET)
		return ntohl(v4->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
	return IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
}

static void port_set(struct sockaddr_storage *sa, uint16_t port)
{
	struct sockaddr_in *v4 = (void *)sa;
	struct sockaddr_in6 *v6 = (void *)sa;

	if (sa->ss_family == AF_INET)
		v4->sin_port = htons(port);
	else
		v6->sin6_port = htons(port);
}

void vb_own_address(const struct vb_dev *d, uint16_t port,
		    struct sockaddr_storage *sa)
{
	*sa = d->sa;
	port_set(sa, port);
}

int vb_resolve(const struct vb_dev *d, const struct log *log,
	       const struct addr *addr, struct sockaddr_storage *sa,
	       bool *local)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *found;
	int rc = getaddrinfo(addr->host, NULL, &hints, &found);

	if (rc) {
		log_error(log, "verbs: host \"%s\": %s", addr->host,
			  gai_strerror(rc));
		return -EHOSTUNREACH;
	}
	memset(sa, 0, sizeof(*sa));
	memcpy(sa, found->ai_addr, found->ai_addrlen);
	freeaddrinfo(found);
	*local = is_loopback(sa) && d->sa.ss_family;
	if (*local)
		*sa = d->sa;
	port_set(sa, addr->port);
	return 0;
}

bool vb_is_own_address(const struct vb_dev *d, const struct sockaddr *sa)
{
	const struct sockaddr_in *a4 = (const void *)sa;
	const struct sockaddr_in *b4 = (const void *)&d->sa;
	const struct sockaddr_in6 *a6 = (const void *)sa;
	const struct sockaddr_in6 *b6 = (const void *)&d->sa;

	if (sa->sa_family != d->sa.ss_family)
		return false;
	if (sa->sa_family == AF_INET)
		return a4->sin_addr.s_addr == b4->sin_addr.s_addr;
	return IN6_ARE_ADDR_EQUAL(&a6->sin6_addr, &b6->sin6_addr);
}

void vb_peer_name(const struct vb_dev *d, const struct sockaddr *sa, bool local,
		  char *buf, size_t len)
{
	const struct sockaddr_in *v4 = (const void *)sa;
	const struct sockaddr_in6 *v6 = (const void *)sa;
	char host[INET6_ADDRSTRLEN] = "?";

	if (sa->sa_family == AF_INET)
		inet_ntop(AF_INET, &v4->sin_addr, host, sizeof(host));
	else
		inet_ntop(AF_INET6, &v6->sin6_addr, host, sizeof(host));
	if (local && vb_is_own_address(d, sa))
		snprintf(host, sizeof(host), "127.0.0.1");
	snprintf(buf, len,
		 sa->sa_family == AF_INET ? "verbs %s:%u" : "verbs [%s]:%u",
		 host, ntohs(v4->sin_port));
}
