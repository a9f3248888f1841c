/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pvskew.c - a library for LD_PRELOAD that simulates another host. Its clock is PVSKEW_BEHIND
 * seconds slow. If PVSKEW_UNSET is set, its clock is not synchronized. A flush of its disk takes
 * PVSKEW_FLUSH ms. It has been up for PVSKEW_UP seconds longer than this host, so its boot differs.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <time.h>
#include <unistd.h>

static long number(const char *name)
{
	const char *text = getenv(name);

	return text ? atol(text) : 0;
}

#pragma GCC visibility push(default)

int adjtimex(struct timex *t)
{
	*t = (struct timex){ .status = getenv("PVSKEW_UNSET") ? STA_UNSYNC
							      : STA_PLL };
	return TIME_OK;
}

time_t time(time_t *t)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	now.tv_sec -= number("PVSKEW_BEHIND");
	if (t)
		*t = now.tv_sec;
	return now.tv_sec;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
	int rc = (int)syscall(SYS_clock_gettime, clock, now);

	if (!rc && clock == CLOCK_BOOTTIME)
		now->tv_sec += number("PVSKEW_UP");
	return rc;
}

/* Hides the id of the host's boot. */
FILE *fopen64(const char *path, const char *mode)
{
	__typeof__(fopen64) *real = (__typeof__(real))dlsym(RTLD_NEXT,
							    "fopen64");

	if (getenv("PVSKEW_UP") && strstr(path, "/boot_id"))
		return NULL;
	return real(path, mode);
}

int fsync(int fd)
{
	usleep((useconds_t)number("PVSKEW_FLUSH") * 1000);
	return fdatasync(fd);
}

#pragma GCC visibility pop
