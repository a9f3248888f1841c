/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bench_eventfd.c - measures how long it takes at least to wake another process and be woken by it.
 */
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/bench/bench.h"

#define ROUNDS 8192u

static bool ring(int fd)
{
	return eventfd_write(fd, 1) == 0;
}

static bool hear(int fd)
{
	eventfd_t v;

	return eventfd_read(fd, &v) == 0;
}

static double rounds(int there, int back, double pause, unsigned int n)
{
	double secs[ROUNDS], start;

	for (unsigned int i = 0; i < n; i++) {
		if (pause > 0)
			usleep((useconds_t)(pause * 1e6));
		start = bench_now();
		if (!ring(there) || !hear(back))
			return -1;
		secs[i] = bench_now() - start;
	}
	return bench_median(secs, n);
}

double bench_eventfd(double pause, unsigned int n)
{
	int there = eventfd(0, EFD_CLOEXEC), back = eventfd(0, EFD_CLOEXEC);
	double secs = -1;
	pid_t pid;

	if (there < 0 || back < 0 || n > ROUNDS)
		return -1;
	pid = fork();
	if (pid == 0) {
		while (n-- && hear(there) && ring(back))
			;
		_exit(0);
	}
	if (pid > 0) {
		secs = rounds(there, back, pause, n);
		waitpid(pid, NULL, 0);
	}
	close(there);
	close(back);
	return secs;
}
