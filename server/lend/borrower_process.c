/* SPDX-License-Identifier: BSD-2-Clause */
/* borrower_process.c - the process of a client that borrows objects. */
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

#include "common/util/incarnation.h"
#include "server/lend/borrower_process.h"

/*
 * Lease times are clock_boot() values; a time namespace can shift this clock.  False: the clocks
 * differ.  *unknown: the kernel does not permit to look.
 */
static bool has_our_clock(pid_t pid, bool *unknown)
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

/* -EINVAL, or -ENOENT from later kernels: a thread of another process has this number. */
static int open_pidfd(pid_t pid)
{
	int fd = pid <= 0 ? -1 : (int)syscall(SYS_pidfd_open, pid, 0);

	if (fd >= 0)
		return fd;
	return pid <= 0 || errno == EINVAL || errno == ENOENT ? -ESRCH : -errno;
}

/* If the kernel has no descriptor or memory for the question, the process may still run. */
static int get_start_time(struct borrower_process *p)
{
	errno = 0;
	if (has_our_clock(p->pid, &p->clock_unknown))
		p->start_time = process_start(p->pid);
	if (p->start_time)
		return 0;
	return errno == EMFILE || errno == ENFILE || errno == ENOMEM ? -errno
								     : -ESRCH;
}

int borrower_process_open(pid_t pid, struct borrower_process *p)
{
	struct borrower_process found = { .pid = pid };
	int rc;

	found.fd = open_pidfd(pid);
	if (found.fd < 0)
		return found.fd;
	rc = get_start_time(&found);
	if (rc)
		close(found.fd);
	else
		*p = found;
	return rc;
}

bool borrower_process_has_user(const struct borrower_process *p, uid_t uid)
{
	struct stat sb;
	char path[40];

	snprintf(path, sizeof(path), "/proc/%ld", (long)p->pid);
	return !stat(path, &sb) && sb.st_uid == uid &&
	       !borrower_process_has_ended(p);
}

void borrower_process_close(struct borrower_process *p)
{
	if (p->fd >= 0)
		close(p->fd);
	p->fd = -1;
}

bool borrower_process_has_ended(const struct borrower_process *p)
{
	struct pollfd pfd = { .fd = p->fd, .events = POLLIN };

	return poll(&pfd, 1, 0) == 1;
}

bool borrower_process_is_killable(const struct borrower_process *p)
{
	return !syscall(SYS_pidfd_send_signal, p->fd, 0, NULL, 0);
}

void borrower_process_kill(const struct borrower_process *p)
{
	syscall(SYS_pidfd_send_signal, p->fd, SIGKILL, NULL, 0);
}

/* "PID (NAME) STATE ..."; the name may contain any byte. */
bool borrower_process_is_stopped(const struct borrower_process *p)
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
	       !borrower_process_has_ended(p);
}

/* "FROM-TO PERMS OFFSET MAJOR:MINOR INODE PATH" */
static bool maps_line_has_inode(const char *line, const struct stat *sb)
{
	unsigned long inode;

	return sscanf(line, "%*x-%*x %*s %*x %*x:%*x %lu", &inode) == 1 &&
	       inode == sb->st_ino;
}

bool borrower_process_maps_file(const struct borrower_process *p, int fd)
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
		found = maps_line_has_inode(line, &sb);
	free(line);
	fclose(f);
	return found;
}
