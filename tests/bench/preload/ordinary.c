/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ordinary.c - measures reads and writes on a descriptor outside of all mounts, and the start and
 * end of a program, to show the cost of a preloaded library:
 *
 *   ordinary
 *
 * Prints a line for each call: its name, and nanoseconds.
 */
#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CALLS 1000000u
#define STARTS 200u

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int zero;
static char byte;

static bool c_read(void)
{
	return read(zero, &byte, 1) == 1;
}

static bool c_write(void)
{
	return write(zero, &byte, 1) == 1;
}

static bool c_pread(void)
{
	return pread(zero, &byte, 1, 0) == 1;
}

static bool c_pwrite(void)
{
	return pwrite(zero, &byte, 1, 0) == 1;
}

static bool c_start(void)
{
	char *const argv[] = { (char[]){ "true" }, NULL };
	int status;
	pid_t pid;

	return !posix_spawn(&pid, "/bin/true", NULL, NULL, argv, environ) &&
	       waitpid(pid, &status, 0) == pid && !status;
}

static void measure(const char *what, bool (*call)(void), unsigned int n)
{
	double since = now();

	for (unsigned int i = 0; i < n; i++) {
		if (call())
			continue;
		perror(what);
		exit(1);
	}
	printf("%s %.1f\n", what, (now() - since) / n);
}

int main(void)
{
	zero = open("/dev/zero", O_RDWR);
	measure("read", c_read, CALLS);
	measure("write", c_write, CALLS);
	measure("pread", c_pread, CALLS);
	measure("pwrite", c_pwrite, CALLS);
	measure("start", c_start, STARTS);
	return close(zero);
}
