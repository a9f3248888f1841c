/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * umask.c - the process' umask, as it is now.
 *
 * umask(2) can only be read by changing it.  ROMIO and the coreutils set it
 * and set it back; that is two short system calls, and right as long as
 * nobody else runs between them: a file that another thread makes just then
 * would get the wrong mode, and an umask() of that thread would be undone.
 * OrangeFS does it once, at the first use, and misses every later change.
 * Here a process of one thread (the C library knows) takes the short way with
 * its signals held back; one of several asks /proc, which changes nothing and
 * costs some ten microseconds.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/single_threaded.h>
#include <unistd.h>

#include "client/lib/api/api_int.h"

static bool umask_from_proc(mode_t *mask)
{
	int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
	char buf[256], *line;
	ssize_t n;

	if (fd < 0)
		return false;
	n = read(fd, buf, sizeof(buf) - 1);
	close(fd);
	if (n <= 0)
		return false;
	buf[n] = '\0';
	line = strstr(buf, "\nUmask:");
	if (!line)
		return false;
	*mask = (mode_t)strtoul(line + 7, NULL, 8);
	return true;
}

/* A strict one in between: what a handler cannot be kept from is safe. */
static mode_t umask_set_back(void)
{
	sigset_t all, before;
	mode_t mask;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	mask = umask(077);
	umask(mask);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return mask;
}

uint32_t mode_and_umask(mode_t mode)
{
	mode_t mask;

	if (__libc_single_threaded || !umask_from_proc(&mask))
		mask = umask_set_back();
	return WIRE_MODE(mode & 07777, mask & 0777);
}
