/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * umask.c - the process' umask.  umask(2) can only be read by changing it,
 * which would be seen by other threads that create files; so the kernel's
 * own account is read first.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api_int.h"

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

uint32_t mode_after_umask(mode_t mode)
{
	mode_t mask;

	if (!umask_from_proc(&mask)) {
		mask = umask(077);
		umask(mask);
	}
	return mode & 07777 & ~mask;
}
