/* SPDX-License-Identifier: BSD-2-Clause */
/* cond_int.h - condition variables of the manager's threads. */
#ifndef COND_INT_H
#define COND_INT_H

#include <pthread.h>
#include <time.h>

/* Initializes a condition variable whose timeouts are in CLOCK_MONOTONIC. */
static inline void cond_init_monotonic(pthread_cond_t *cond)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(cond, &attr);
	pthread_condattr_destroy(&attr);
}

#endif
