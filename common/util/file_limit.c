/* SPDX-License-Identifier: BSD-2-Clause */
/* file_limit.c - see file_limit.h. */
#include "common/util/file_limit.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <time.h>

static sigset_t only_it(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGXFSZ);
	return set;
}

/* A signal that was pending before belongs to the program. */
void file_limit_begin(struct file_limit *l)
{
	const sigset_t it = only_it();
	sigset_t waiting;

	pthread_sigmask(SIG_BLOCK, &it, &l->before);
	l->pending = !sigpending(&waiting) && sigismember(&waiting, SIGXFSZ);
}

void file_limit_end(const struct file_limit *l, int rc)
{
	const struct timespec now = { 0 };
	const sigset_t it = only_it();
	int saved = errno;

	if (rc == -EFBIG && !l->pending)
		sigtimedwait(&it, NULL, &now);
	pthread_sigmask(SIG_SETMASK, &l->before, NULL);
	errno = saved;
}
