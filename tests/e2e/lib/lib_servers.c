/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib_servers.c - calls that describe mounts, servers and layouts.
 *
 * 	lib_servers up MOUNT FOLDER STATE	all servers run; STATE is their folder
 * 	lib_servers gone MOUNT URI		the iod at URI was killed
 * 	lib_servers silent URI			the server at URI is stopped
 * 	lib_servers alone MOUNT			the manager was killed
 * 	lib_servers flaws MOUNT			fabric= of MOUNT allows neither its own transport
 * 						nor verbs
 */
#include <limits.h>
#include <stdbool.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "tests/e2e/lib/expect.h"
#include <pvfs.h>

#define IODS 2
#define DEADLINE_MS 1500

static const char *in(const char *dir, const char *name)
{
	static char path[512];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static int opened(const char *path, int flags)
{
	int fd = pvfs_open(path, flags, 0600);

	EXPECT(fd >= 0);
	return fd;
}

/* ---- descriptors of PVFS and of other files ---- */

static void descriptors(const char *mount, const char *folder)
{
	struct fpart part = { .offset = 1 };
	struct pvfs_list_counters count;
	struct pvfs_way_counters ways;
	int fd = opened(in(mount, "f"), O_RDWR | O_CREAT), copy = pvfs_dup(fd);
	int dir = opened(mount, O_RDONLY | O_DIRECTORY), own;

	EXPECT(pvfs_is_pvfs_fd(fd) == 1 && pvfs_is_pvfs_fd(copy) == 1);
	EXPECT(pvfs_is_pvfs_fd(dir) == 1 && pvfs_close(dir) == 0);
	EXPECT(pvfs_close(fd) == 0);
	EXPECT(pvfs_is_pvfs_fd(fd) == 0 && pvfs_is_pvfs_fd(copy) == 1);
	/* the kernel reuses the number for an ordinary file */
	own = opened(in(folder, "g"), O_RDWR | O_CREAT);
	EXPECT(own == fd && pvfs_is_pvfs_fd(own) == 0);
	EXPECT_ERRNO(pvfs_list_counters(own, &count), ENOTTY);
	EXPECT_ERRNO(pvfs_way_counters(own, &ways), ENOTTY);
	EXPECT(pvfs_dup2(own, copy) == copy && pvfs_is_pvfs_fd(copy) == 0);
	EXPECT(pvfs_close(own) == 0 && pvfs_close(copy) == 0);
	/* only the library knows the partition of an ordinary file */
	own = pvfs_open(in(folder, "g"), O_RDWR | O_PART, 0, &part);
	EXPECT(own >= 0 && pvfs_is_pvfs_fd(own) == 0);
	EXPECT(pvfs_close(own) == 0);
	EXPECT(pvfs_is_pvfs_fd(STDOUT_FILENO) == 0);
	EXPECT(pvfs_is_pvfs_fd(-1) == 0 && pvfs_is_pvfs_fd(INT_MAX) == 0);
}

/* ---- which way data went ---- */

static struct pvfs_way_counters ways_of(int fd)
{
	struct pvfs_way_counters ways;

	EXPECT(pvfs_way_counters(fd, &ways) == 0);
	return ways;
}

/* By default (fast_max), only verbs uses Fast RDMA. */
static void ways(const char *mount)
{
	static char buf[1 << 20];
	int fd = opened(in(mount, "w"), O_RDWR | O_CREAT);
	struct pvfs_way_counters first = ways_of(fd), then;

	EXPECT(pvfs_write(fd, buf, 100) == 100);
	then = ways_of(fd);
	EXPECT(then.in_message == first.in_message + 1);
	EXPECT(then.by_server == first.by_server);
	EXPECT(pvfs_pread(fd, buf, 100, 0) == 100);
	EXPECT(ways_of(fd).in_message == first.in_message + 2);
	EXPECT(pvfs_pwrite(fd, buf, sizeof(buf), 0) == sizeof(buf));
	then = ways_of(fd);
	EXPECT(then.in_message == first.in_message + 2);
	EXPECT(then.by_server > first.by_server);
	EXPECT(then.fast_rdma == first.fast_rdma);
	EXPECT_ERRNO(pvfs_way_counters(fd, NULL), EFAULT);
	EXPECT_ERRNO(pvfs_list_counters(fd, NULL), EFAULT);
	EXPECT(pvfs_close(fd) == 0 && pvfs_unlink(in(mount, "w")) == 0);
}

/* ---- the servers of a mount ---- */

static void mounts(const char *mount, const char *folder)
{
	struct pvfs_server mgr, list[IODS + 3];
	char dir[64];
	int i;

	EXPECT(pvfs_mount_point(0, dir, strlen(mount) + 1) == 0);
	EXPECT(!strcmp(dir, mount));
	EXPECT_ERRNO(pvfs_mount_point(0, dir, strlen(mount)), ERANGE);
	EXPECT_ERRNO(pvfs_mount_point(0, NULL, sizeof(dir)), EFAULT);
	EXPECT_ERRNO(pvfs_mount_point(1, dir, sizeof(dir)), ENOENT);
	EXPECT_ERRNO(pvfs_mount_point(UINT_MAX, dir, sizeof(dir)), ENOENT);
	EXPECT(pvfs_is_pvfs(mount) == 1 && pvfs_is_pvfs(in(mount, "no")) == 1);
	EXPECT(pvfs_is_pvfs(folder) == 0 && pvfs_is_pvfs(NULL) == 0);
	EXPECT(pvfs_manager(in(mount, "no"), &mgr) == 0);
	EXPECT(mgr.role == PVFS_MGR && mgr.index == 0);
	EXPECT_ERRNO(pvfs_manager(folder, &mgr), ENODEV);
	EXPECT_ERRNO(pvfs_manager(NULL, &mgr), ENODEV);
	EXPECT_ERRNO(pvfs_manager(mount, NULL), EFAULT);

	memset(list, 0, sizeof(list));
	EXPECT(pvfs_servers(mount, NULL, 0) == IODS + 1);
	EXPECT(pvfs_servers(mount, list, 2) == IODS + 1);
	EXPECT(!strcmp(list[0].uri, mgr.uri) && list[1].uri[0]);
	EXPECT(!list[2].uri[0]);
	EXPECT(pvfs_servers(mount, list, IODS + 3) == IODS + 1);
	for (i = 1; i <= IODS; i++)
		EXPECT(list[i].role == PVFS_IOD && list[i].index == i - 1);
	EXPECT(!list[IODS + 1].uri[0] && strcmp(list[1].uri, list[2].uri));
	EXPECT_ERRNO(pvfs_servers(mount, list, -1), EINVAL);
	EXPECT_ERRNO(pvfs_servers(mount, NULL, 1), EFAULT);
	EXPECT_ERRNO(pvfs_servers(folder, list, 1), ENODEV);
}

/* ---- space ---- */

/* The used space changes during the test; the total space does not. */
static void sane(const struct statfs *st)
{
	EXPECT(st->f_type == PVFS_SUPER_MAGIC && st->f_bsize == 4096);
	EXPECT(st->f_frsize == 4096 && st->f_namelen == 255);
	EXPECT(st->f_bavail <= st->f_bfree && st->f_bfree <= st->f_blocks);
	EXPECT(st->f_blocks && st->f_files && st->f_ffree <= st->f_files);
}

static bool same_id(const struct statfs *a, const struct statfs *b)
{
	return !memcmp(&a->f_fsid, &b->f_fsid, sizeof(a->f_fsid));
}

static void space(const char *mount, const char *folder, const char *state)
{
	struct pvfs_server list[IODS + 1];
	struct statfs one, all, first, none = { .f_type = 0 };
	struct statvfs disk;
	int i, fd;

	EXPECT(statvfs(state, &disk) == 0);
	EXPECT(pvfs_servers(mount, list, IODS + 1) == IODS + 1);
	for (i = 0; i <= IODS; i++) {
		EXPECT(pvfs_statfs_server(list[i].uri, 0, &one) == 0);
		sane(&one);
		EXPECT(one.f_blocks == disk.f_blocks * disk.f_frsize / 4096);
		if (i == 1)
			first = one;
		if (i)
			EXPECT(same_id(&one, &first) && !same_id(&one, &none));
	}
	EXPECT(pvfs_statfs(in(mount, "f"), &all) == 0);
	sane(&all);
	EXPECT(all.f_blocks == first.f_blocks); /* the iods share one disk */
	fd = opened(in(mount, "f"), O_RDONLY);
	EXPECT(pvfs_fstatfs(fd, &one) == 0);
	sane(&one);
	EXPECT(one.f_blocks == all.f_blocks && pvfs_close(fd) == 0);
	EXPECT(same_id(&one, &all) && !same_id(&one, &first));
	EXPECT_ERRNO(pvfs_fstatfs(fd, &one), EBADF);
	EXPECT_ERRNO(pvfs_statfs(in(mount, "no"), &one), ENOENT);
	EXPECT(pvfs_statfs(folder, &one) == 0);
	EXPECT(one.f_type != PVFS_SUPER_MAGIC);
}

/* ---- one server ---- */

static void wrong(const char *uri)
{
	struct statfs st = { .f_bsize = 7 };
	struct pvfs_ping ping = { .boot = 7 };

	EXPECT_ERRNO(pvfs_statfs_server(uri, DEADLINE_MS, &st), EINVAL);
	EXPECT_ERRNO(pvfs_ping_server(uri, DEADLINE_MS, &ping), EINVAL);
	EXPECT(st.f_bsize == 7 && ping.boot == 7);
}

static void ping(const char *mount)
{
	struct pvfs_server mgr;
	struct pvfs_ping one, two;
	struct statfs st;
	unsigned int n[3];

	EXPECT(pvfs_manager(mount, &mgr) == 0);
	EXPECT(pvfs_ping_server(mgr.uri, DEADLINE_MS, &one) == 0);
	EXPECT(pvfs_ping_server(mgr.uri, 0, &two) == 0);
	EXPECT(one.boot && one.boot == two.boot);
	EXPECT(one.uptime_ns && one.uptime_ns < two.uptime_ns);
	EXPECT(one.requests < two.requests && one.sessions);
	EXPECT(one.rtt_ns && one.rtt_ns <= one.connect_ns);
	EXPECT(!strcmp(one.transport, "tcp") && *one.reason);
	EXPECT(!strcmp(one.version, pvfs_version()));
	EXPECT(sscanf(pvfs_version(), "%u.%u.%u", n, n + 1, n + 2) == 3);
	wrong("nowhere");
	wrong("host:");
	wrong("tcp://host:99999");
	wrong("");
	EXPECT_ERRNO(pvfs_ping_server(NULL, 0, &one), EFAULT);
	EXPECT_ERRNO(pvfs_ping_server(mgr.uri, 0, NULL), EFAULT);
	EXPECT(pvfs_ping_mount(mount, mgr.uri, 0, &two) == 0);
	EXPECT(one.boot == two.boot);
	EXPECT_ERRNO(pvfs_ping_mount("/", mgr.uri, 0, &one), ENODEV);
	EXPECT_ERRNO(pvfs_ping_mount(NULL, mgr.uri, 0, &one), ENODEV);
	EXPECT_ERRNO(pvfs_ping_mount(mount, NULL, 0, &one), EFAULT);
	EXPECT_ERRNO(pvfs_ping_mount(mount, mgr.uri, 0, NULL), EFAULT);
	EXPECT_ERRNO(pvfs_statfs_server(NULL, 0, &st), EFAULT);
	EXPECT_ERRNO(pvfs_statfs_server(mgr.uri, 0, NULL), EFAULT);
	EXPECT(pvfs_statfs_mount(mount, mgr.uri, 0, &st) == 0);
	sane(&st);
	EXPECT_ERRNO(pvfs_statfs_mount("/", mgr.uri, 0, &st), ENODEV);
	EXPECT_ERRNO(pvfs_statfs_mount(mount, mgr.uri, 0, NULL), EFAULT);
}

/* Checks the error for an unavailable server.  Outputs stay unchanged. */
static void refused(const char *uri, int code)
{
	struct statfs st = { .f_bsize = 7 };
	struct pvfs_ping ping = { .boot = 7 };

	EXPECT_ERRNO(pvfs_statfs_server(uri, DEADLINE_MS, &st), code);
	EXPECT_ERRNO(pvfs_ping_server(uri, DEADLINE_MS, &ping), code);
	EXPECT(st.f_bsize == 7 && ping.boot == 7);
}

static void layouts(const char *mount)
{
	struct pvfs_layout l;
	int64_t local = 7;

	EXPECT(pvfs_layout(in(mount, "f"), &l) == 0 && l.niods == IODS);
	EXPECT(l.handle && l.ssize == 65536 && l.pcount == IODS);
	EXPECT(pvfs_locate(&l, 65536 * 3 + 5, &local) == (int)(l.base + 1) % 2);
	EXPECT(local == 65536 + 5);
	EXPECT(pvfs_locate(&l, 0, NULL) == (int)l.base);
	EXPECT_ERRNO(pvfs_locate(&l, -1, &local), EINVAL);
	EXPECT_ERRNO(pvfs_locate(NULL, 0, &local), EFAULT);
	l.pcount = IODS + 1;
	EXPECT_ERRNO(pvfs_locate(&l, 0, &local), EINVAL);
	EXPECT(local == 65536 + 5);
	EXPECT_ERRNO(pvfs_layout(in(mount, "no"), &l), ENOENT);
	EXPECT_ERRNO(pvfs_layout(mount, NULL), EFAULT);
}

/* ---- log lines ---- */

static char said[256];

static void say(void *arg, int level, const char *msg)
{
	snprintf(said, sizeof(said), "%d %s", level, msg);
	++*(int *)arg;
}

static void log_lines(void)
{
	struct pvfs_ping ping;
	int lines = 0;

	pvfs_set_log(say, &lines, 0);
	EXPECT_ERRNO(pvfs_ping_server("to us", 0, &ping), EINVAL);
	EXPECT(lines == 1);
	EXPECT(!strncmp(said, "0 \"to us\" is no address", 23));
	pvfs_set_log(NULL, NULL, 0);
	EXPECT_ERRNO(pvfs_ping_server("to stderr", 0, &ping), EINVAL);
	EXPECT(lines == 1);
}

/* ---- a server is not there ---- */

/* The other servers respond, and the client knows all addresses. */
static void gone(const char *mount, const char *uri)
{
	struct pvfs_server list[IODS + 1];
	struct statfs st = { .f_bsize = 7 };
	struct pvfs_ping ping;

	refused(uri, ECONNREFUSED);
	EXPECT(pvfs_servers(mount, list, IODS + 1) == IODS + 1);
	EXPECT(!strcmp(list[IODS].uri, uri));
	EXPECT(pvfs_ping_server(list[1].uri, 0, &ping) == 0);
	EXPECT_ERRNO(pvfs_statfs(mount, &st), ETIMEDOUT);
	EXPECT(st.f_bsize == 7);
}

static void alone(const char *mount)
{
	struct pvfs_server mgr = { .role = PVFS_IOD }, list[IODS + 1];
	struct pvfs_layout layout;

	/* the address is in pvfstab */
	EXPECT(pvfs_manager(mount, &mgr) == 0 && mgr.role == PVFS_MGR);
	refused(mgr.uri, ECONNREFUSED);
	EXPECT_ERRNO(pvfs_servers(mount, list, IODS + 1), ETIMEDOUT);
	EXPECT_ERRNO(pvfs_layout(in(mount, "f"), &layout), ETIMEDOUT);
	EXPECT(pvfs_is_pvfs(mount) == 1);
}

/* Two different causes have the same errno; both calls must fail with it. */
static void flaws(const char *mount)
{
	struct pvfs_ping ping;

	for (int i = 0; i < 2; i++) {
		EXPECT_ERRNO(pvfs_ping_mount(mount, "verbs://127.0.0.1:1", 0,
					     &ping),
			     EINVAL);
		EXPECT_ERRNO(pvfs_open(mount, O_RDONLY), EINVAL);
	}
}

int main(int argc, char **argv)
{
	EXPECT(argc >= 3);
	if (!strcmp(argv[1], "gone")) {
		gone(argv[2], argv[3]);
	} else if (!strcmp(argv[1], "silent")) {
		refused(argv[2], ETIMEDOUT);
	} else if (!strcmp(argv[1], "alone")) {
		alone(argv[2]);
	} else if (!strcmp(argv[1], "flaws")) {
		flaws(argv[2]);
	} else {
		EXPECT(argc == 5);
		log_lines();
		descriptors(argv[2], argv[3]);
		ways(argv[2]);
		mounts(argv[2], argv[3]);
		layouts(argv[2]);
		space(argv[2], argv[3], argv[4]);
		ping(argv[2]);
	}
	puts("ok");
	return 0;
}
