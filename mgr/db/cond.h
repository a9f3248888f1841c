/* SPDX-License-Identifier: BSD-2-Clause */
/* cond.h - a condition variable whose timeouts are in CLOCK_MONOTONIC. */
#ifndef COND_H
#define COND_H

#include <pthread.h>
#include <time.h>

static inline void cond_init_monotonic(pthread_cond_t *cond)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(cond, &attr);
	pthread_condattr_destroy(&attr);
}

#endif
