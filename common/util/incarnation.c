/* SPDX-License-Identifier: BSD-2-Clause */
/* incarnation.c - see incarnation.h. */
#include "common/util/incarnation.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/util/random_id.h"

#define START_FIELD 22 /* of /proc/PID/stat */

/* Skips the second field, a name in (), which may contain anything. */
static uint64_t parse_start_time(const char *text)
{
	const char *at = strrchr(text, ')');
	int i;

	for (i = 2; at && i < START_FIELD; i++)
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

/* 64 bits of the kernel's random boot_id. */
int boot_id(uint64_t *id)
{
	FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");
	uint32_t a;
	uint16_t b, c;
	int n = 0;

	if (f) {
		n = fscanf(f, "%8" SCNx32 "-%4" SCNx16 "-%4" SCNx16, &a, &b,
			   &c);
		fclose(f);
	}
	if (n != 3)
		return random_id(id);
	*id = (uint64_t)a << 32 | (uint64_t)b << 16 | c;
	return 0;
}

/* How far CLOCK_BOOTTIME is ahead of that of the host, ns. */
static uint64_t boottime_offset(void)
{
	FILE *f = fopen("/proc/self/timens_offsets", "re");
	int64_t s = 0;
	long ns = 0;

	if (!f)
		return 0; /* the kernel has no time namespaces */
	if (fscanf(f, "monotonic %*d %*d boottime %" SCNd64 " %ld", &s, &ns) !=
	    2)
		s = ns = 0;
	fclose(f);
	return (uint64_t)s * 1000000000u + (uint64_t)ns;
}

int clock_id(uint64_t *id)
{
	uint64_t boot;
	int rc = boot_id(&boot);

	if (!rc)
		*id = boot + boottime_offset();
	return rc;
}
