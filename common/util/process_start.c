/* SPDX-License-Identifier: BSD-2-Clause */
/* process_start.c - field 22 of /proc/PID/stat. */
#include "common/util/process_start.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIELD 22

/* Skips the second field, a name in (), which may contain anything. */
static uint64_t parse_start_time(const char *text)
{
	const char *at = strrchr(text, ')');
	int i;

	for (i = 2; at && i < FIELD; i++)
		at = strchr(at + 1, ' ');
	return at ? strtoull(at, NULL, 10) : 0;
}

uint64_t process_start(pid_t pid)
{
	char path[40] = "/proc/self/stat", text[1024];
	ssize_t n;
	int fd;

	if (pid)
		snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return 0;
	text[n] = '\0';
	return parse_start_time(text);
}
