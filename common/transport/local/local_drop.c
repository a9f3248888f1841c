/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * local_drop.c - closing what a peer gave.  Its last close may take as long as
 * the peer likes: a socket lingers, a file of FUSE is flushed by who serves it.
 * So another thread does it, and nobody waits for that one.
 */
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "local.h"

#define STACK (PTHREAD_STACK_MIN + (64u << 10)) /* sanitizers want more */

static void *close_it(void *arg)
{
	close((int)(intptr_t)arg);
	return NULL;
}

static int start(int fd)
{
	pthread_attr_t attr;
	pthread_t thread;
	sigset_t all, old;
	int rc;

	sigfillset(&all);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, STACK);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(&thread, &attr, close_it, (void *)(intptr_t)fd);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	return rc;
}

/* Memory, as all but a gong should be, has nothing to wait for. */
void local_drop(int fd)
{
	if (fcntl(fd, F_GET_SEALS) >= 0 || start(fd))
		close(fd);
}
