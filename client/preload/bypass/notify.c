/* SPDX-License-Identifier: BSD-2-Clause */
/* notify.c - see notify.h. */
#include "client/preload/bypass/notify.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* sigqueue() would report that the user sent the signal. */
static void send_signal(const struct sigevent *how)
{
	siginfo_t info;

	memset(&info, 0, sizeof(info));
	info.si_signo = how->sigev_signo;
	info.si_code = SI_ASYNCIO;
	info.si_pid = getpid();
	info.si_uid = getuid();
	info.si_value = how->sigev_value;
	syscall(SYS_rt_sigqueueinfo, info.si_pid, how->sigev_signo, &info);
}

/* Starts in a thread of the library, which has all signals blocked. */
static void *call_function(void *arg)
{
	struct sigevent how = *(struct sigevent *)arg;
	sigset_t none;

	free(arg);
	sigemptyset(&none);
	pthread_sigmask(SIG_SETMASK, &none, NULL);
	how.sigev_notify_function(how.sigev_value);
	return NULL;
}

static void start_thread(const struct sigevent *how)
{
	struct sigevent *copy = malloc(sizeof(*copy));
	pthread_attr_t attr;
	pthread_t thread;

	if (!copy)
		return;
	*copy = *how;
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	if (pthread_create(&thread,
			   how->sigev_notify_attributes
				   ? how->sigev_notify_attributes
				   : &attr,
			   call_function, copy))
		free(copy);
	pthread_attr_destroy(&attr);
}

void notify(const struct sigevent *how)
{
	if (how->sigev_notify == SIGEV_SIGNAL)
		send_signal(how);
	else if (how->sigev_notify == SIGEV_THREAD)
		start_thread(how);
}

struct notify_group *notify_group_new(const struct sigevent *how)
{
	struct notify_group *g = calloc(1, sizeof(*g));

	if (!g)
		return NULL;
	atomic_init(&g->pending, 1);
	g->how.sigev_notify = SIGEV_NONE;
	if (how)
		g->how = *how;
	return g;
}

void notify_group_put(struct notify_group *g)
{
	if (!g || atomic_fetch_sub(&g->pending, 1) != 1)
		return;
	notify(&g->how);
	free(g);
}
