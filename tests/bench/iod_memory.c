/* SPDX-License-Identifier: BSD-2-Clause */
/* iod_memory.c - what /proc says of an iod, and what it says itself. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/bench/bench.h"
#include "tests/bench/iod_memory.h"

#define ANSWER_MS 3000 /* for an iod to report */

static double resident(pid_t pid)
{
	char path[64], line[256];
	unsigned long kib = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "VmRSS: %lu", &kib) == 1)
			break;
	if (f)
		fclose(f);
	return (double)kib / 1024;
}

/* The sum of what a report names for each transport; < 0: none yet. */
static double find_registered(FILE *log)
{
	char line[1024], *at;
	double sum = -1;

	while (fgets(line, sizeof(line), log)) {
		at = strstr(line, " KiB registered with");
		while (at && at > line && at[-1] >= '0' && at[-1] <= '9')
			at--;
		if (at)
			sum = (sum < 0 ? 0 : sum) + atof(at);
	}
	return sum < 0 ? -1 : sum / 1024;
}

/* Asks with SIGUSR1 and reads the answer where the iod's log goes. */
static double registered(pid_t pid)
{
	struct timespec nap = { .tv_nsec = 20000000 };
	char path[64];
	double mib = -1, until = bench_now() + ANSWER_MS / 1e3;
	FILE *log;
	long end;

	snprintf(path, sizeof(path), "/proc/%d/fd/2", (int)pid);
	log = fopen(path, "r");
	if (!log || fseek(log, 0, SEEK_END) || (end = ftell(log)) < 0 ||
	    kill(pid, SIGUSR1)) {
		if (log)
			fclose(log);
		return -1;
	}
	while (mib < 0 && bench_now() < until) {
		nanosleep(&nap, NULL);
		fseek(log, end, SEEK_SET);
		mib = find_registered(log);
	}
	fclose(log);
	return mib;
}

struct iod_memory iod_memory(pid_t pid)
{
	return (struct iod_memory){ resident(pid), registered(pid) };
}
