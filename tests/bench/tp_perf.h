/* SPDX-License-Identifier: BSD-2-Clause */
/* tp_perf.h - one measurement: its operation, its duration, and its two contestants. */
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
	unsigned int in_flight; /* transfers under way when one is begun */
	unsigned int ms; /* of one round and contestant */
	bool pin; /* the two ends to two CPUs */
	bool spin; /* poll only, never sleep */
};

/* Touched, or its pages would all be the same zeros. */
char *perf_buffer(size_t len);
void perf_pin(const struct perf *p, int cpu);
/* The result of one contestant in one round. */
struct perf_result {
	double rate; /* operations per second */
	double cpu; /* seconds per operation, both ends */
};
/* False, with a message, if it failed. */
bool perf_socket(const struct perf *p, struct perf_result *result);
bool perf_provider(const struct perf *p, struct perf_result *result);
/* Registers p->size bytes and gives them back, again and again. */
bool perf_register(const struct perf *p, struct perf_result *result);
/* CPU time of this process up to now, in seconds. */
double perf_cpu(void);

#endif
