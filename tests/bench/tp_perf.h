/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tp_perf.h - one measurement: its operation, its duration, and the two programs that it compares.
 */
#ifndef TP_PERF_H
#define TP_PERF_H

#include <stdbool.h>
#include <stddef.h>

#define PERF_SIZE_MAX (64u << 20)
#define PERF_ROUNDS_MAX 100u

enum perf_op { PERF_SEND, PERF_WRITE, PERF_READ, PERF_PINGPONG };

struct perf {
	const char *provider;
	const char *host; /* NULL: 127.0.0.1 */
	enum perf_op op;
	size_t size;
	unsigned int rounds;
	unsigned int in_flight; /* number of transfers in flight */
	unsigned int ms; /* ms of one round of the socket or the provider */
	bool pin; /* bind the two ends to two CPUs */
	bool spin; /* poll only, never sleep */
};

/*
 * Allocates a buffer and writes to it.  Otherwise all pages would be the kernel's one page of
 * zeros.
 */
char *perf_buffer(size_t len);
void perf_pin(const struct perf *p, int cpu);
/* The result of the socket or the provider in one round. */
struct perf_result {
	double rate; /* operations per second */
	double cpu; /* CPU seconds per operation, both ends together */
};
/* Measure the socket, or the provider.  Return false after a message. */
bool perf_socket(const struct perf *p, struct perf_result *result);
bool perf_provider(const struct perf *p, struct perf_result *result);
/* Measures registering and deregistering p->size bytes repeatedly. */
bool perf_register(const struct perf *p, struct perf_result *result);
/* Returns the CPU time of this process so far, in seconds. */
double perf_cpu(void);

#endif
