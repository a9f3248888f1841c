/* SPDX-License-Identifier: BSD-2-Clause */
/* perf_io.c - clients that read and write, for several experiments. */
#include <sys/mman.h>

#include "tests/bench/pvfs_perf.h"

/*
 * Maximum bytes of a client's file: more than the processor's caches have, but little enough for a
 * file system in memory.
 */
#define FILE_MAX ((uint64_t)128 << 20)

static uint64_t whole_calls(uint64_t bytes, uint64_t call)
{
	return bytes < call ? call : bytes / call * call;
}

int perf_io(const struct perf_run *run, const struct perf_target *t,
	    struct bench_io_arg *a, unsigned int n, struct bench_result *res)
{
	struct bench plain = { .local = run->local };
	struct bench_task task = { bench_io_client, a };

	a->pvfs = t != NULL;
	a->share = whole_calls(run->bytes / n, a->call);
	a->file = 0;
	if (a->io != BENCH_WRITE_NEW && a->share > FILE_MAX)
		a->file = whole_calls(FILE_MAX, a->call);
	return bench_run(t ? &t->b : &plain, n, &task, res);
}

double perf_gib(const struct bench_io_arg *a, unsigned int n)
{
	return (double)a->share * n / (double)(1u << 30);
}

struct bench_io_done *perf_done_new(unsigned int n)
{
	void *p = mmap(NULL, n * sizeof(struct bench_io_done),
		       PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		       0);

	return p == MAP_FAILED ? NULL : p;
}

void perf_done_free(struct bench_io_done *done, unsigned int n)
{
	munmap(done, n * sizeof(*done));
}
