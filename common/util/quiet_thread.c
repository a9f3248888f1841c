/* SPDX-License-Identifier: BSD-2-Clause */
/* quiet_thread.c - see quiet_thread.h. */
#include "common/util/quiet_thread.h"

#include <signal.h>

int quiet_thread(size_t stack, void *(*run)(void *arg), void *arg,
		 pthread_t *thread)
{
	pthread_attr_t attr;
	sigset_t all, before;
	pthread_t detached;
	int rc;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, stack);
	if (!thread)
		pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(thread ? thread : &detached, &attr, run, arg);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return -rc;
}
