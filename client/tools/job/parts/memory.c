/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * memory.c - see memory.h.  A tmpfs needs root's rights over the mount name space in
 * which it is made.  A child gets these rights in a name space of its own, passes us
 * the folder, and ends.
 */
#include "client/tools/job/parts/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static int write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), rc = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		rc = -errno;
	close(fd);
	return rc;
}

/* In the new name space, the process keeps its user and group. */
int memory_space(void)
{
	unsigned int uid = geteuid(), gid = getegid();
	char map[64];
	int rc;

	if (unshare(CLONE_NEWUSER | CLONE_NEWNS))
		return -errno;
	write_text("/proc/self/setgroups", "deny");
	snprintf(map, sizeof(map), "%u %u 1", uid, uid);
	rc = write_text("/proc/self/uid_map", map);
	snprintf(map, sizeof(map), "%u %u 1", gid, gid);
	return rc ? rc : write_text("/proc/self/gid_map", map);
}

static int make_tmpfs(uint64_t size)
{
	int fs = fsopen("tmpfs", FSOPEN_CLOEXEC), at = -1;
	char text[32];

	if (fs < 0)
		return -errno;
	snprintf(text, sizeof(text), "%llu", (unsigned long long)size);
	if (!fsconfig(fs, FSCONFIG_SET_STRING, "size", text, 0) &&
	    !fsconfig(fs, FSCONFIG_SET_STRING, "mode", "700", 0) &&
	    !fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0))
		at = fsmount(fs, FSMOUNT_CLOEXEC,
			     MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
	if (at < 0)
		at = -errno;
	close(fs);
	return at;
}

static int send_descriptor(int socket, int fd)
{
	char room[CMSG_SPACE(sizeof(int))] = { 0 }, c = 0;
	struct iovec io = { &c, 1 };
	struct msghdr m = { .msg_iov = &io,
			    .msg_iovlen = 1,
			    .msg_control = room,
			    .msg_controllen = sizeof(room) };
	struct cmsghdr *h = CMSG_FIRSTHDR(&m);

	h->cmsg_level = SOL_SOCKET;
	h->cmsg_type = SCM_RIGHTS;
	h->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(h), &fd, sizeof(fd));
	return sendmsg(socket, &m, MSG_NOSIGNAL) == 1 ? 0 : -errno;
}

static int receive_descriptor(int socket)
{
	char room[CMSG_SPACE(sizeof(int))] = { 0 }, c;
	struct iovec io = { &c, 1 };
	struct msghdr m = { .msg_iov = &io,
			    .msg_iovlen = 1,
			    .msg_control = room,
			    .msg_controllen = sizeof(room) };
	struct cmsghdr *h;
	int fd;

	if (recvmsg(socket, &m, MSG_CMSG_CLOEXEC) != 1)
		return -EPERM;
	h = CMSG_FIRSTHDR(&m);
	if (!h || h->cmsg_type != SCM_RIGHTS ||
	    h->cmsg_len != CMSG_LEN(sizeof(int)))
		return -EPERM;
	memcpy(&fd, CMSG_DATA(h), sizeof(fd));
	return fd;
}

static int make_in_child(uint64_t size)
{
	int s[2], fd;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, s))
		return -errno;
	pid = fork();
	if (!pid) {
		fd = memory_space() ? -1 : make_tmpfs(size);
		_exit(fd < 0 || send_descriptor(s[1], fd));
	}
	close(s[1]);
	fd = pid < 0 ? -EAGAIN : receive_descriptor(s[0]);
	close(s[0]);
	if (pid > 0)
		waitpid(pid, NULL, 0);
	return fd;
}

int memory_make(uint64_t size)
{
	int fd = make_tmpfs(size); /* succeeds for root */

	return fd >= 0 ? fd : make_in_child(size);
}

uint64_t memory_half(void)
{
	FILE *f = fopen("/proc/meminfo", "re");
	unsigned long long kib = 0;
	char line[128];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "MemAvailable: %llu kB", &kib) == 1)
			break;
	if (f)
		fclose(f);
	return kib ? kib << 9 : 1ull << 30;
}
