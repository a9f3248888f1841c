/* SPDX-License-Identifier: BSD-2-Clause */
/* lend_process.c - the processes of borrowers. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "server/lend/lend_int.h"
#include "common/util/process_start.h"

/*
 * Leases are told in clock_boot(), which may be set for a container.  False: it is another
 * one.  *unknown: who may not look into that process does not see it.
 */
static bool same_time(pid_t pid, bool *unknown)
{
	struct stat ours, theirs;
	char path[40];

	*unknown = false;
	snprintf(path, sizeof(path), "/proc/%ld/ns/time", (long)pid);
	if (stat("/proc/self/ns/time", &ours))
		return errno == ENOENT;
	if (!stat(path, &theirs))
		return ours.st_ino == theirs.st_ino;
	*unknown = errno == EACCES || errno == EPERM;
	return *unknown;
}

int lend_process_open(pid_t pid, struct lend_process *p)
{
	struct lend_process found = { .pid = pid };

	if (pid <= 0)
		return -ESRCH;
	found.fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (found.fd < 0)
		return -errno;
	found.began = same_time(pid, &found.clock) ? process_start(pid) : 0;
	if (!found.began) {
		close(found.fd);
		return -ESRCH;
	}
	*p = found;
	return 0;
}

bool lend_process_is(const struct lend_process *p, uid_t uid)
{
	struct stat sb;
	char path[40];

	snprintf(path, sizeof(path), "/proc/%ld", (long)p->pid);
	return !stat(path, &sb) && sb.st_uid == uid && !lend_process_ended(p);
}

void lend_process_close(struct lend_process *p)
{
	if (p->fd >= 0)
		close(p->fd);
	p->fd = -1;
}

bool lend_process_ended(const struct lend_process *p)
{
	struct pollfd pfd = { .fd = p->fd, .events = POLLIN };

	return poll(&pfd, 1, 0) == 1;
}

bool lend_process_ours(const struct lend_process *p)
{
	return !syscall(SYS_pidfd_send_signal, p->fd, 0, NULL, 0);
}

void lend_process_kill(const struct lend_process *p)
{
	syscall(SYS_pidfd_send_signal, p->fd, SIGKILL, NULL, 0);
}

/* "PID (NAME) STATE ...", and the name may be anything. */
bool lend_process_stopped(const struct lend_process *p)
{
	char text[512], path[40], *end;
	ssize_t n = -1;
	int fd;

	snprintf(path, sizeof(path), "/proc/%ld/stat", (long)p->pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n < 0 ? 0 : n] = '\0';
	end = strrchr(text, ')');
	return end && end[1] == ' ' && (end[2] == 'T' || end[2] == 't') &&
	       !lend_process_ended(p);
}

/* "FROM-TO PERMS OFFSET MAJOR:MINOR INODE PATH" */
static bool is_of(const char *line, const struct stat *sb)
{
	unsigned long inode;

	return sscanf(line, "%*x-%*x %*s %*x %*x:%*x %lu", &inode) == 1 &&
	       inode == sb->st_ino;
}

bool lend_process_maps(const struct lend_process *p, int fd)
{
	char path[40], *line = NULL;
	bool found = false;
	size_t cap = 0;
	struct stat sb;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%ld/maps", (long)p->pid);
	f = fopen(path, "re");
	if (!f || fstat(fd, &sb)) {
		if (f)
			fclose(f);
		return true;
	}
	while (!found && getline(&line, &cap, f) > 0)
		found = is_of(line, &sb);
	free(line);
	fclose(f);
	return found;
}
