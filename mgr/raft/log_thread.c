/* SPDX-License-Identifier: BSD-2-Clause */
/* log_thread.c - see log_thread.h. */
#include "mgr/raft/log_thread.h"

#include <errno.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include "common/util/quiet_thread.h"

#define LOG_THREAD_STACK (256u << 10)

struct log_thread {
	void (*work)(void *arg);
	void *arg;
	sem_t woken;
	atomic_bool stop;
	pthread_t thread;
};

static void *log_thread_main(void *arg)
{
	struct log_thread *lt = arg;

	for (;;) {
		while (sem_wait(&lt->woken) && errno == EINTR)
			;
		while (!sem_trywait(&lt->woken))
			;
		if (atomic_load(&lt->stop))
			return NULL;
		lt->work(lt->arg);
	}
}

int log_thread_start(void (*work)(void *arg), void *arg,
		     struct log_thread **thread)
{
	struct log_thread *new = calloc(1, sizeof(*new));
	int rc;

	if (!new)
		return -ENOMEM;
	new->work = work;
	new->arg = arg;
	sem_init(&new->woken, 0, 0);
	rc = quiet_thread(LOG_THREAD_STACK, log_thread_main, new, &new->thread);
	if (rc) {
		sem_destroy(&new->woken);
		free(new);
		return rc;
	}
	*thread = new;
	return 0;
}

void log_thread_wake(void *thread)
{
	struct log_thread *lt = thread;

	sem_post(&lt->woken);
}

void log_thread_stop(struct log_thread *thread)
{
	atomic_store(&thread->stop, true);
	log_thread_wake(thread);
	pthread_join(thread->thread, NULL);
	sem_destroy(&thread->woken);
	free(thread);
}
