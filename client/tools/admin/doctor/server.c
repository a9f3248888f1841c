/* SPDX-License-Identifier: BSD-2-Clause */
/* server.c - what a server answers: its round trip, its transports, its space. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "client/tools/admin/doctor/checks.h"
#include <pvfs.h>
#include "client/tools/common/tool.h"

/* The time limit of one ping: a check sends up to five, one after the other. */
static int ping_ms(const struct doctor *d)
{
	return (int)d->timeout_s * 200;
}

static bool is_refusal(int err)
{
	return err == EACCES || err == EKEYREJECTED || err == ENOKEY;
}

/*
 * Pings the manager before an iod: the manager's reply contains the file system that the iod
 * must serve, and only the leading manager issues the ticket that iods may require.  If no
 * manager leads, and the iod refuses this client, returns -ENOTCONN as the cause.
 */
static int ping_server(const struct doctor *d, const struct subject *s,
		       struct pvfs_ping *p)
{
	struct pvfs_server mgr;
	bool leaderless = false;

	if (!s->mgr && !pvfs_manager(s->mount, &mgr)) {
		if (!pvfs_ping_mount(s->mount, mgr.uri, ping_ms(d), p))
			pvfs_tool_servers(s->mount, NULL, 0);
		else
			leaderless = errno == ENOTCONN;
	}
	if (!pvfs_ping_mount(s->mount, s->uri, ping_ms(d), p))
		return 0;
	return leaderless && is_refusal(errno) ? -ENOTCONN : -errno;
}

/* Servers on loopback were mostly started by that script. */
static const char *start_script(const struct subject *s)
{
	return addr_is_loopback(&s->addr)
		       ? "scripts/cluster (pvfs-cluster) start, or "
		       : "";
}

static void write_start_fix(const struct subject *s, char *fix, size_t len)
{
	if (s->mgr)
		snprintf(fix, len,
			 "start it: %ssystemctl start pvfs-mgr on %s, and read "
			 "its log; pvfs-doctor -c pvfs.conf there sees its "
			 "disk; or correct the port (port= in pvfstab, [mgr] "
			 "address in pvfs.conf), or the firewall that rejects "
			 "it",
			 start_script(s), s->addr.host);
	else
		snprintf(fix, len,
			 "start it: %ssystemctl start pvfs-iod@%u on %s, and "
			 "read its log; pvfs-doctor -c pvfs.conf there sees "
			 "its disk; or correct [iod.%u] address, or the "
			 "firewall that rejects it",
			 start_script(s), s->index, s->addr.host, s->index);
}

#define REFUSAL_FIX                                                            \
	"auth= and key= in pvfstab (auth in pvfs.conf) as the servers ask; "   \
	"with munge: munged here and on the manager's host, with one key and " \
	"one time (munge -n | ssh HOST unmunge); server_user= for servers of " \
	"another user on this host"
/* The settings to check if a server rejects this host before the user has authenticated. */
#define OUTSIDE_FIX                                                            \
	"this host's network in [filesystem] allow of pvfs.conf, on all "      \
	"server hosts, and restart them; of a server on this host "            \
	"server_user= in pvfstab: the user that runs it"

static const char *refusal_fix(int err)
{
	return err == EACCES ? OUTSIDE_FIX : REFUSAL_FIX;
}

static void find_no_route(const struct doctor *d, const struct subject *s,
			  int err)
{
	char fix[512];

	snprintf(fix, sizeof(fix),
		 "ip route get %s: a route that leads there, and no blackhole, "
		 "unreachable or prohibit; is the host up, does a firewall "
		 "reject port %u",
		 s->addr.host, s->addr.port);
	doctor_find(d, fix, "there is no way to %s: %s", s->uri, strerror(err));
}

static void find_silent(const struct doctor *d, const struct subject *s)
{
	char fix[512];

	snprintf(fix, sizeof(fix),
		 "on %s: does the process stand still (State in "
		 "/proc/PID/status, kill -CONT, systemctl restart), is its "
		 "disk away (dmesg), is it there, or another program on its "
		 "port (ss -ltnp); from here: ping it, look at firewalls for "
		 "port %u",
		 s->addr.host, s->addr.port);
	doctor_find(d, fix, "%s does not answer", s->uri);
}

/* The server answers, but does not serve this file system, or not yet. */
static void find_other_state(const struct doctor *d, const struct subject *s,
			     int err)
{
	const char *fix =
		err == ENXIO ? "stop what is there, or correct address or "
			       "[filesystem] id in pvfs.conf"
			     : "start the servers that it waits for, or give "
			       "all the same pvfs.conf (auth, seal, key), or "
			       "raise max_sessions: its log and the manager's "
			       "say which";

	doctor_find(d, fix, "%s: %s", s->uri, tool_cause(err));
}

/* The server rejects clients, but perhaps not this one. */
#define PLACES_FIX                                                             \
	"LimitNOFILE in the unit (systemctl edit), or max_sessions and "       \
	"host_sessions in pvfs.conf, then restart it; pvfs-stats -u and "      \
	"pvfs-evict name the clients that it has"

static void find_full(const struct doctor *d, const struct subject *s, int err)
{
	doctor_find(d, PLACES_FIX, "%s is full: %s", s->uri, tool_cause(err));
}

/* The server admitted this check, but rejects others. */
static void check_full(const struct doctor *d, const struct subject *s,
		       const struct pvfs_ping *p)
{
	const char *why = strstr(p->reason, "the server has no room");

	if (why)
		doctor_find(d, PLACES_FIX, "%s is full: %.*s", s->uri,
			    (int)strcspn(why, ";"), why);
}

#define LEADERLESS_FIX                                                         \
	"start those that do not run (systemctl status 'pvfs-mgr@*' on their " \
	"hosts), and repair the network between their hosts; without a "       \
	"majority of them there is no service"

static void find_down(const struct doctor *d, const struct subject *s, int err)
{
	char fix[1024];

	write_start_fix(s, fix, sizeof(fix));
	if (err == ECONNREFUSED)
		doctor_find(d, fix, "nobody listens at %s", s->uri);
	else if (err == ETIMEDOUT)
		find_silent(d, s);
	else if (tool_full(err))
		find_full(d, s, err);
	else if (is_refusal(err))
		doctor_find(d, refusal_fix(err), "%s refuses this client: %s",
			    s->uri, strerror(err));
	else if (err == ELIBACC)
		doctor_find(d,
			    "install libmunge.so.2 (libmunge2), and all of the "
			    "package libpvfs1",
			    "%s asks who its clients are, and what proves it "
			    "is not here: %s",
			    s->uri, strerror(err));
	else if (err == EPROTOTYPE)
		doctor_find(d,
			    "correct the port: port= in pvfstab, address in "
			    "pvfs.conf; ss -ltnp on that host names the "
			    "service",
			    "%s is not a PVFS server: another service has "
			    "that port",
			    s->uri);
	else if (err == ENXIO || err == EAGAIN)
		find_other_state(d, s, err);
	else if (err == ENOTCONN)
		doctor_find(d, LEADERLESS_FIX, "no manager leads (%s): %s",
			    s->uri, tool_cause(err));
	else if (err == EHOSTUNREACH || err == ENETUNREACH)
		find_no_route(d, s, err);
	else
		doctor_find(d, fix, "%s: %s", s->uri, strerror(err));
}

/* Whether another check reports the cause of this error of the server. */
static bool is_reported_elsewhere(const struct doctor *d,
				  const struct subject *s, int err)
{
	/* the name service may be slow, too */
	if (err == EHOSTUNREACH || err == ETIMEDOUT)
		return !host_has_address(s);
	return !d->conf && !tab_has_key(d, s);
}

void check_reach(const struct doctor *d, const struct subject *s)
{
	struct pvfs_ping p;
	int rc = ping_server(d, s, &p);

	if (rc && is_refusal(-rc) && munge_needless(d))
		doctor_note(d, "%s answers, and refuses who has no munged",
			    s->uri);
	else if (rc && !is_reported_elsewhere(d, s, -rc))
		find_down(d, s, -rc);
	else if (!rc)
		check_full(d, s, &p);
	if (!rc)
		doctor_note(d,
			    "%s over %s in %" PRIu64 ".%" PRIu64
			    " us (%s), version %s, up %" PRIu64 " s",
			    s->uri, p.transport, p.rtt_ns / 1000,
			    p.rtt_ns / 100 % 10, p.reason, p.version,
			    p.uptime_ns / 1000000000);
}

/*
 * Reports a server that seals its tcp connections in another way than pvfs.conf of this host says.
 */
static void check_seal(const struct doctor *d, const struct subject *s,
		       const struct pvfs_ping *p)
{
	if (d->seal[0] && !strcmp(p->transport, "tcp") &&
	    strcmp(p->seal, d->seal) != 0)
		doctor_find(d,
			    "copy the right pvfs.conf to all server hosts, "
			    "stop all servers, and start them",
			    "%s has seal = %s, and %s here %s", s->uri, p->seal,
			    d->conf, d->seal);
}

/* Tests one of its transports alone. */
static void check_transport(const struct doctor *d, const struct subject *s,
			    const char *scheme, const char *best)
{
	struct addr addr = s->addr;
	struct pvfs_ping p;
	char uri[ADDR_STRLEN], fix[512];

	snprintf(addr.scheme, sizeof(addr.scheme), "%s", scheme);
	addr_format(&addr, uri, sizeof(uri));
	if (!pvfs_ping_mount(s->mount, uri, ping_ms(d), &p)) {
		check_seal(d, s, &p);
		doctor_note(d, "%s in %" PRIu64 ".%" PRIu64 " us", uri,
			    p.rtt_ns / 1000, p.rtt_ns / 100 % 10);
	} else if (s->mgr && errno == EAGAIN) {
		doctor_note(d, "%s answers, and does not lead", uri);
	} else if (is_refusal(errno) && munge_needless(d)) {
		doctor_note(d, "%s answers, and refuses who has no munged",
			    uri);
	} else if (tool_full(errno)) {
		doctor_note(d, "%s: %s", uri, tool_cause(errno));
	} else if (!strcmp(scheme, "tcp") && is_refusal(errno)) {
		doctor_find(d, refusal_fix(errno),
			    "%s refuses this client (%s), %s does not: when "
			    "that breaks, nothing is left",
			    uri, strerror(errno), best);
	} else if (!strcmp(scheme, "tcp")) {
		snprintf(fix, sizeof(fix),
			 "let port %u of %s through the firewall; fabric= of "
			 "its section must have tcp",
			 addr.port, addr.host);
		doctor_find(d, fix,
			    "%s does not answer (%s), %s does: when that "
			    "breaks, nothing is left",
			    uri, strerror(errno), best);
	} else {
		doctor_note(d, "%s: not from here: %s", uri, strerror(errno));
	}
}

static void check_choice(const struct doctor *d, const struct subject *s,
			 const struct pvfs_ping *p)
{
	if (!strcmp(p->transport, "tcp") && strstr(p->reason, "not trusted"))
		doctor_find(d,
			    "server_user= in pvfstab: the user that runs the "
			    "servers",
			    "%s is on this host and goes over tcp: %s", s->uri,
			    p->reason);
	else if (!strcmp(p->transport, "tcp") && rdma_is_there(d))
		doctor_find(d,
			    "PVFS_LOG=debug pvfs-ping says what verbs lack; "
			    "rdma.md, What verbs needs; is fabric= without "
			    "verbs somewhere",
			    "%s goes over tcp, and this host has RDMA: %s",
			    s->uri, p->reason);
}

/* A server with a fixed transport has only one, which check_reach() tests. */
void check_ways(const struct doctor *d, const struct subject *s)
{
	static const char *const all[] = { "local", "verbs", "tcp" };
	struct pvfs_ping p;

	if (ping_server(d, s, &p))
		return;
	check_seal(d, s, &p);
	if (strcmp(s->addr.scheme, "pvfs") != 0)
		return;
	check_choice(d, s, &p);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (strcmp(all[i], p.transport) != 0)
			check_transport(d, s, all[i], p.transport);
}

void check_version(const struct doctor *d, const struct subject *s)
{
	struct pvfs_ping p;

	if (!ping_server(d, s, &p) && strcmp(p.version, pvfs_version()) != 0)
		doctor_find(d,
			    "bring all hosts to one release: install its "
			    "packages, restart the servers",
			    "%s is of version %s, and this program of %s",
			    s->uri, p.version, pvfs_version());
}

bool space_is_low(uint64_t left, uint64_t all, uint64_t least)
{
	return all && (left < least || left < all / 50);
}

void check_space(const struct doctor *d, const struct subject *s)
{
	struct pvfs_ping p;
	struct statfs st;
	uint64_t bs;

	if (ping_server(d, s, &p))
		return; /* check_reach() reports the cause */
	if (pvfs_statfs_mount(s->mount, s->uri, ping_ms(d), &st)) {
		doctor_unseen(d, "space of %s: %s", s->uri, strerror(errno));
		return;
	}
	bs = (uint64_t)st.f_bsize;
	if (space_is_low(st.f_bavail * bs, st.f_blocks * bs, ROOM_LEAST))
		doctor_find(d, ROOM_FIX, "%s has %" PRIu64 " MiB left", s->uri,
			    (uint64_t)st.f_bavail * bs >> 20);
	else if (space_is_low(st.f_ffree, st.f_files, INODES_LEAST))
		doctor_find(d, INODES_FIX, "%s has %" PRIu64 " inodes left",
			    s->uri, (uint64_t)st.f_ffree);
}

void check_ahead(const struct doctor *d, const struct subject *s)
{
	struct pvfs_ping p;
	struct stat sb;
	time_t ahead;

	if (!s->mgr || ping_server(d, s, &p) || pvfs_stat(s->mount, &sb))
		return;
	ahead = sb.st_ctime - time(NULL);
	if (ahead > 2)
		doctor_find(d,
			    "chrony (or systemd-timesyncd) on every host: "
			    "timedatectl set-ntp true",
			    "the clock of the manager's host is at least %lld "
			    "s ahead of this one",
			    (long long)ahead);
}
