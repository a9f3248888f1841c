/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lock.c - one lock around ROMIO, for programs with MPI_THREAD_MULTIPLE.
 *
 * Recursive, and let go around every MPI call that may block (unlocked.h):
 * two threads in collective calls on two files must not wait for each other,
 * which could go round in a circle over the ranks.
 */
#include <pthread.h>

#include "romio-adio/glue/mpir_ext.h"
#include "romio-adio/glue/unlocked.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local unsigned int depth;

void MPIR_Ext_cs_enter(void)
{
	if (depth++ == 0)
		pthread_mutex_lock(&lock);
}

void MPIR_Ext_cs_exit(void)
{
	if (--depth == 0)
		pthread_mutex_unlock(&lock);
}

unsigned int romio_unlock_all(void)
{
	unsigned int held = depth;

	if (held) {
		depth = 0;
		pthread_mutex_unlock(&lock);
	}
	return held;
}

void romio_lock_again(unsigned int held)
{
	if (held) {
		pthread_mutex_lock(&lock);
		depth = held;
	}
}
