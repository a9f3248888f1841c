/* SPDX-License-Identifier: BSD-2-Clause */
/* perf_socket.c - the baseline: a plain socket, with blocking calls of the full size. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/util/clock.h"
#include "tests/bench/plain_pair.h"
#include "tests/bench/tp_perf.h"

struct plain {
	const struct perf *p;
	int fd;
	char *buf;
};

static bool all(int fd, char *buf, size_t len, bool out)
{
	while (len) {
		ssize_t n = out ? write(fd, buf, len) : read(fd, buf, len);

		if (n <= 0)
			return false;
		buf += n;
		len -= (size_t)n;
	}
	return true;
}

/* The thread of the other end: receives the data, or sends it back. */
static void *far_end(void *arg)
{
	struct plain *s = arg;

	perf_pin(s->p, 1);
	while (all(s->fd, s->buf, s->p->size, false)) {
		if (s->p->op == PERF_PINGPONG &&
		    !all(s->fd, s->buf, s->p->size, true))
			break;
	}
	return NULL;
}

static bool near_end(struct plain *s, struct perf_result *result)
{
	uint64_t start, end, n = 0;
	double cpu;

	perf_pin(s->p, 0);
	start = clock_now();
	cpu = perf_cpu();

	do {
		if (!all(s->fd, s->buf, s->p->size, true) ||
		    (s->p->op == PERF_PINGPONG &&
		     !all(s->fd, s->buf, s->p->size, false)))
			return false;
		n++;
		end = clock_now();
	} while (end - start < s->p->ms * CLOCK_NS_PER_MS);
	result->rate = (double)n * 1e9 / (double)(end - start);
	result->cpu = (perf_cpu() - cpu) / (double)n;
	return true;
}

bool perf_socket(const struct perf *p, struct perf_result *result)
{
	struct plain end[2] = { { .p = p }, { .p = p } };
	pthread_t thread;
	bool ok;
	int fd[2], i;

	if (!plain_pair(fd)) {
		perror("tp_perf: loopback connection");
		return false;
	}
	for (i = 0; i < 2; i++) {
		end[i].fd = fd[i];
		end[i].buf = perf_buffer(p->size);
	}
	pthread_create(&thread, NULL, far_end, &end[1]);
	ok = near_end(&end[0], result);
	shutdown(fd[0], SHUT_WR);
	pthread_join(thread, NULL);
	for (i = 0; i < 2; i++) {
		close(fd[i]);
		free(end[i].buf);
	}
	return ok;
}
