/* SPDX-License-Identifier: BSD-2-Clause */
/* rdma.c - RDMA devices as /sys shows them: ports, addresses, MTU, connection manager. */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "client/tools/admin/doctor/checks.h"

#define DEVICES "/sys/class/infiniband"
#define MTU_LEAST 4200u /* Ethernet's, for RoCE with 4096 bytes */

struct port {
	char dir[PATH_MAX]; /* /sys/class/infiniband/DEV/ports/N */
	char name[80]; /* "mlx5_0 port 1" */
	bool up, ethernet;
	char state[32], netdev[64];
	uint64_t mtu; /* of netdev; 0: unknown */
};

struct port_walk {
	const struct doctor *d;
	const char *dev;
	void (*fn)(struct port_walk *w, const struct port *p);
	unsigned int up; /* ports */
	uint64_t mtu; /* of the first port that is up */
	char first[80];
};

bool rdma_state_is_up(const char *state)
{
	const char *colon = strchr(state, ':');

	return colon && !strcmp(colon + 1 + strspn(colon + 1, " "), "ACTIVE");
}

int rdma_gid_kind(const char *gid)
{
	static const uint8_t none[8];
	struct in6_addr a;

	if (inet_pton(AF_INET6, gid, &a) != 1 ||
	    !memcmp(a.s6_addr + 8, none, sizeof(none)))
		return 0;
	return a.s6_addr[0] == 0xfe && (a.s6_addr[1] & 0xc0) == 0x80 ? 1 : 2;
}

static void read_port(const struct doctor *d, struct port *p)
{
	char path[128], layer[32] = "";

	if (host_read(d, p->state, sizeof(p->state), "%s/state", p->dir))
		strcpy(p->state, "unreadable");
	p->up = rdma_state_is_up(p->state);
	host_read(d, layer, sizeof(layer), "%s/link_layer", p->dir);
	p->ethernet = !strcmp(layer, "Ethernet");
	if (host_read(d, p->netdev, sizeof(p->netdev), "%s/gid_attrs/ndevs/0",
		      p->dir))
		return;
	snprintf(path, sizeof(path), "/sys/class/net/%s/mtu", p->netdev);
	if (host_number(d, &p->mtu, path))
		p->mtu = 0;
}

static int each_port(void *arg, const char *number)
{
	struct port_walk *w = arg;
	struct port p = { 0 };

	snprintf(p.dir, sizeof(p.dir), DEVICES "/%s/ports/%s", w->dev, number);
	snprintf(p.name, sizeof(p.name), "%.40s port %.16s", w->dev, number);
	read_port(w->d, &p);
	w->fn(w, &p);
	w->up += p.up;
	return 0;
}

static int each_dev(void *arg, const char *dev)
{
	struct port_walk *w = arg;
	char dir[PATH_MAX];
	int rc;

	w->dev = dev;
	snprintf(dir, sizeof(dir), DEVICES "/%s/ports", dev);
	rc = host_each(w->d, dir, each_port, w);
	if (rc)
		doctor_unseen(w->d, "%s: %s", dir, strerror(-rc));
	return 0;
}

/* Returns the number of active ports.  Having no devices is no fault. */
static unsigned int each_active_port(const struct doctor *d,
				     void (*fn)(struct port_walk *w,
						const struct port *p))
{
	struct port_walk w = { .d = d, .fn = fn };
	int rc = host_each(d, DEVICES, each_dev, &w);

	if (rc && rc != -ENOENT)
		doctor_unseen(d, DEVICES ": %s", strerror(-rc));
	return w.up;
}

static void ignore_port(struct port_walk *w, const struct port *p)
{
	(void)w;
	(void)p;
}

bool rdma_is_there(const struct doctor *d)
{
	return each_active_port(d, ignore_port) > 0;
}

static void port_state(struct port_walk *w, const struct port *p)
{
	if (!p->up)
		doctor_find(w->d,
			    p->ethernet ? "ip link set its network device up, "
					  "and look at the cable and switch"
					: "look at the cable, and whether a "
					  "subnet manager runs (opensm)",
			    "%s is not up: %s", p->name, p->state);
}

void check_rdma_port(const struct doctor *d, const struct subject *s)
{
	(void)s;
	each_active_port(d, port_state);
}

struct gids {
	const struct doctor *d;
	const struct port *p;
	int best;
};

static int each_gid(void *arg, const char *number)
{
	struct gids *g = arg;
	char gid[64];
	int kind;

	if (host_read(g->d, gid, sizeof(gid), "%s/gids/%s", g->p->dir, number))
		return 0;
	kind = rdma_gid_kind(gid);
	g->best = kind > g->best ? kind : g->best;
	return 0;
}

static void port_gid(struct port_walk *w, const struct port *p)
{
	struct gids g = { w->d, p, 0 };
	char dir[PATH_MAX + 8], fix[160];
	int rc;

	if (!p->up)
		return;
	snprintf(dir, sizeof(dir), "%s/gids", p->dir);
	rc = host_each(w->d, dir, each_gid, &g);
	if (rc) {
		doctor_unseen(w->d, "%s: %s", dir, strerror(-rc));
		return;
	}
	if (g.best == 2 || (g.best == 1 && !p->ethernet))
		return;
	snprintf(fix, sizeof(fix),
		 "ip addr add ADDRESS/BITS dev %s; the addresses in pvfs.conf "
		 "are these",
		 p->netdev[0] ? p->netdev : "its network device");
	doctor_find(w->d, fix,
		    "%s has no address (GID)%s: others do not reach "
		    "it over RDMA",
		    p->name, g.best ? " but a link-local one" : "");
}

void check_rdma_gid(const struct doctor *d, const struct subject *s)
{
	(void)s;
	each_active_port(d, port_gid);
}

static void port_mtu(struct port_walk *w, const struct port *p)
{
	char fix[160];

	if (!p->up || !p->ethernet || !p->mtu)
		return;
	snprintf(fix, sizeof(fix),
		 "ip link set %s mtu 9000 (at least %u) on all hosts, and the "
		 "same at the switch",
		 p->netdev, MTU_LEAST);
	if (p->mtu < MTU_LEAST)
		doctor_find(w->d, fix,
			    "%s: the MTU of %s is %" PRIu64
			    ", too small for RoCE's 4096",
			    p->name, p->netdev, p->mtu);
	else if (w->mtu && p->mtu != w->mtu)
		doctor_find(w->d, fix,
			    "the MTU of %s is %" PRIu64
			    ", that of %s is %" PRIu64,
			    p->name, p->mtu, w->first, w->mtu);
	if (!w->mtu) {
		w->mtu = p->mtu;
		snprintf(w->first, sizeof(w->first), "%s", p->name);
	}
}

void check_rdma_mtu(const struct doctor *d, const struct subject *s)
{
	(void)s;
	each_active_port(d, port_mtu);
}

void check_rdma_cm(const struct doctor *d, const struct subject *s)
{
	char path[PATH_MAX];

	(void)s;
	if (!rdma_is_there(d))
		return;
	host_path(d, path, "/dev/infiniband/rdma_cm");
	if (!access(path, R_OK | W_OK))
		return;
	if (errno == ENOENT)
		doctor_find(d,
			    "modprobe rdma_ucm, and its name in "
			    "/etc/modules-load.d",
			    "there is no connection manager (%s)", path);
	else
		doctor_find(d,
			    "chmod 666 /dev/infiniband/rdma_cm, by a rule "
			    "of udev (rdma-core has one)",
			    "%s: %s: programs of this user do not use RDMA",
			    path, strerror(errno));
}
