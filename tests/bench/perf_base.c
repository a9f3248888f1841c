/* SPDX-License-Identifier: BSD-2-Clause */
/* perf_base.c - functions that both parts of a raw measurement (socket and provider) use. */
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/bench/huge.h"
#include "tests/bench/tp_perf.h"

double perf_cpu(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

char *perf_buffer(size_t len)
{
	char *buf = huge_alloc(len);

	if (!buf)
		exit(1);
	return memset(buf, 0x5a, len);
}

void perf_pin(const struct perf *p, int cpu)
{
	cpu_set_t set;

	if (!p->pin)
		return;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}
