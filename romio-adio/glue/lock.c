/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lock.c - one lock around ROMIO, for programs with MPI_THREAD_MULTIPLE.  It is
 * recursive, and released around every MPI call that may block (unlocked.h).  Otherwise,
 * two threads in collective calls on two files would wait for each other, which could be
 * a deadlock across ranks.
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
