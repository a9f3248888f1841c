/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * umask.c - the current umask of the process.
 *
 * A process can read its umask with umask(2) only by changing it.  ROMIO and the
 * coreutils set it and set it back.  These are two short system calls, but another thread
 * may run between them: a file that it creates gets the wrong mode, and an umask() of
 * that thread is undone.  OrangeFS reads it once, at the first use, and misses later
 * changes.  Here a process with one thread, which the C library knows, uses the two calls
 * with its signals blocked.  A process with several threads reads /proc, which changes
 * nothing and costs some ten microseconds.
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

/* The mask in between is strict, in case anything creates a file meanwhile. */
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
