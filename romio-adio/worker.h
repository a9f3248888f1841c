/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * worker.h - threads that carry out nonblocking accesses while the program
 * computes.  They ask nothing of MPI, so that any level of thread support
 * does.  They start with the first job and end when nobody needs them for a
 * while.
 */
#ifndef WORKER_H
#define WORKER_H

#include <stdbool.h>
#include <sys/queue.h>

struct job {
	/* In a worker's thread. */
	void (*run)(struct job *job);
	STAILQ_ENTRY(job) link;
	bool done; /* under the lock of the workers */
};

/* 0, or -EAGAIN: no thread can be started; then nothing was taken. */
int worker_start(struct job *job);
bool worker_done(struct job *job);
/*
 * Waits until job is done, at most seconds (0: without a bound of its own,
 * since run() has one).
 */
void worker_wait(struct job *job, double seconds);

#endif
