/* SPDX-License-Identifier: BSD-2-Clause */
/* kernel.c - settings of the kernel that cost speed or safety. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/timex.h>

#include "client/tools/admin/doctor/checks.h"

#define DIRTY_LEAST (16ull << 20) /* bytes that writers may leave unwritten */
#define DIRTY_MOST (16ull << 30) /* bytes that a power failure may destroy */
#define WINDOW_LEAST (1u << 20)

int meminfo(const struct doctor *d, const char *name, uint64_t *bytes)
{
	char text[8192], *line = text;
	size_t len = strlen(name);
	int rc = host_read(d, text, sizeof(text), "/proc/meminfo");

	for (; !rc && line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, name, len) || line[len] != ':')
			continue;
		if (sscanf(line + len + 1, "%" SCNu64, bytes) != 1)
			return -EINVAL;
		if (strncmp(name, "HugePages", 9) != 0)
			*bytes <<= 10;
		return 0;
	}
	return rc ? rc : -ENOENT;
}

/* Gets the limit in bytes: set directly, or as a share of the memory. */
static int dirty_limit(const struct doctor *d, const char *kind,
		       uint64_t *bytes)
{
	char path[64];
	uint64_t n, memory;
	int rc;

	snprintf(path, sizeof(path), "/proc/sys/vm/dirty_%sbytes", kind);
	rc = host_number(d, bytes, path);
	if (rc || *bytes)
		return rc;
	snprintf(path, sizeof(path), "/proc/sys/vm/dirty_%sratio", kind);
	rc = host_number(d, &n, path);
	if (!rc)
		rc = meminfo(d, "MemTotal", &memory);
	if (!rc)
		*bytes = memory / 100 * n;
	return rc;
}

#define DIRTY_FIX                                                              \
	"sysctl vm.dirty_background_bytes=268435456 "                          \
	"vm.dirty_bytes=1073741824, and in /etc/sysctl.d to keep it"

void check_dirty(const struct doctor *d, const struct subject *s)
{
	uint64_t most, begin;
	int rc = dirty_limit(d, "", &most);

	(void)s;
	if (!rc)
		rc = dirty_limit(d, "background_", &begin);
	if (rc)
		doctor_unseen(d, "/proc/sys/vm/dirty_*: %s", strerror(-rc));
	else if (most < DIRTY_LEAST)
		doctor_find(d, DIRTY_FIX,
			    "writers wait for the disk once %" PRIu64
			    " KiB are not written (vm.dirty_bytes, "
			    "vm.dirty_ratio)",
			    most >> 10);
	else if (begin >= most)
		doctor_find(d, DIRTY_FIX,
			    "the kernel begins to write where writers wait "
			    "already: vm.dirty_background_* is not below "
			    "vm.dirty_*");
	else if (most > DIRTY_MOST)
		doctor_find(d, DIRTY_FIX,
			    "%" PRIu64
			    " GiB may be unwritten (vm.dirty_ratio): that much "
			    "a power failure takes, and an fsync waits for",
			    most >> 30);
}

/*
 * Whether this congestion control fills the links of a cluster.  Some others yield to any other
 * traffic.
 */
static bool is_known(const char *name)
{
	static const char *const good[] = { "cubic", "bbr",  "dctcp",
					    "reno",  "htcp", "bic" };

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		if (!strcmp(name, good[i]))
			return true;
	return false;
}

static void check_window(const struct doctor *d, const char *name)
{
	char text[128], fix[160];
	unsigned int least, usual, most;
	int rc = host_read(d, text, sizeof(text), "/proc/sys/net/ipv4/%s",
			   name);

	if (rc) {
		doctor_unseen(d, "/proc/sys/net/ipv4/%s: %s", name,
			      strerror(-rc));
		return;
	}
	if (sscanf(text, "%u %u %u", &least, &usual, &most) != 3 ||
	    most >= WINDOW_LEAST)
		return;
	snprintf(fix, sizeof(fix), "sysctl net.ipv4.%s='%u %u 6291456'", name,
		 least, usual);
	doctor_find(d, fix,
		    "a TCP connection may have only %u KiB under way (%s)",
		    most >> 10, name);
}

void check_tcp(const struct doctor *d, const struct subject *s)
{
	char name[64];
	int rc = host_read(d, name, sizeof(name),
			   "/proc/sys/net/ipv4/tcp_congestion_control");

	(void)s;
	if (rc)
		doctor_unseen(d, "tcp_congestion_control: %s", strerror(-rc));
	else if (!is_known(name))
		doctor_find(d,
			    "sysctl net.ipv4.tcp_congestion_control=cubic (or "
			    "bbr, dctcp), the same on all hosts",
			    "TCP's congestion control is %s, which leaves a "
			    "fast link to others",
			    name);
	check_window(d, "tcp_rmem");
	check_window(d, "tcp_wmem");
}

/* Servers and clients use no huge pages, so the reserved ones are lost to them. */
void check_huge(const struct doctor *d, const struct subject *s)
{
	uint64_t total, kept, size;
	int rc = meminfo(d, "MemTotal", &total);

	(void)s;
	if (!rc)
		rc = meminfo(d, "HugePages_Free", &kept);
	if (!rc)
		rc = meminfo(d, "Hugepagesize", &size);
	if (rc == -ENOENT && !meminfo(d, "MemTotal", &total))
		return; /* a kernel without huge pages */
	if (rc)
		doctor_unseen(d, "/proc/meminfo: %s", strerror(-rc));
	else if (kept * size > total / 4)
		doctor_find(d,
			    "sysctl vm.nr_hugepages=N with what other programs "
			    "need; servers and clients use none",
			    "%" PRIu64 " MiB of memory are kept as huge pages "
			    "that nobody uses: the page cache does not get "
			    "them",
			    kept * size >> 20);
}

void check_memory(const struct doctor *d, const struct subject *s)
{
	uint64_t left;
	int rc = meminfo(d, "MemAvailable", &left);

	(void)s;
	if (rc)
		doctor_unseen(d, "/proc/meminfo: %s", strerror(-rc));
	else if (left < 64ull << 20)
		doctor_find(d,
			    "end what uses it, or lower [iod] zones, "
			    "fast_size and [mgr] cache_size",
			    "only %" PRIu64 " MiB of memory are left: buffers "
			    "and shared memory (local) cannot be made",
			    left >> 20);
}

void check_yama(const struct doctor *d, const struct subject *s)
{
	uint64_t scope;
	int rc = host_number(d, &scope, "/proc/sys/kernel/yama/ptrace_scope");

	(void)s;
	if (rc == -ENOENT)
		return; /* no Yama: nothing is restricted */
	if (rc)
		doctor_unseen(d, "ptrace_scope: %s", strerror(-rc));
	else if (scope >= 3)
		doctor_find(d,
			    "sysctl kernel.yama.ptrace_scope=1, which takes a "
			    "new start of the host where it is 3",
			    "no process may attach to another (Yama, "
			    "ptrace_scope %" PRIu64 "): large transfers over "
			    "local are copied twice",
			    scope);
}

/* Whether a server may be on another host.  False if all servers have loopback addresses. */
static bool has_other_hosts(const struct doctor *d)
{
	for (unsigned int i = 0; i < d->nsubjects; i++)
		if (!addr_is_loopback(&d->subject[i].addr))
			return true;
	return !d->nsubjects;
}

void check_clock(const struct doctor *d, const struct subject *s)
{
	struct timex t = { 0 };

	(void)s;
	if (adjtimex(&t) < 0)
		doctor_unseen(d, "adjtimex: %s", strerror(errno));
	else if (!(t.status & STA_UNSYNC))
		return;
	else if (!has_other_hosts(d))
		doctor_note(d, "nobody sets this host's clock, which is the "
			       "only one: all servers are on loopback");
	else
		doctor_find(d,
			    "install and start chrony (or systemd-timesyncd) "
			    "on every host: timedatectl set-ntp true; where "
			    "it runs, chronyc sources (timedatectl "
			    "timesync-status): has it a server that answers",
			    "nobody sets this host's clock: times of files "
			    "will differ between hosts");
}
