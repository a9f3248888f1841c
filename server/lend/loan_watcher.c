/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * loan_watcher.c - a thread that sleeps until a writer is stuck or a session is evicted.  Then
 * it checks each millisecond whether the writers have left, and replaces objects.
 *
 * It also owns the gate: when this process ends, the kernel clears the owner word, and clients
 * see that nobody would revoke their loans any more.
 */
#include <errno.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "common/util/clock.h"
#include "common/util/quiet_thread.h"
#include "server/lend/loan_table_int.h"

#define STACK (64u << 10)
#define CHECK_NS 1000000

struct loan_watcher {
	pthread_t thread;
	bool running;
	/* what the kernel does when the thread ends */
	struct robust_list_head robust;
	struct robust_list owner;
};

/* The thread has no other robust mutexes, so it does not need libc's list of them. */
static void own_gate(struct loan_table *table)
{
	_Atomic uint32_t *owner = gate_owner(store_gate(table->attr.store));
	struct loan_watcher *watcher = table->watcher;
	struct robust_list_head *head = &watcher->robust;

	watcher->owner.next = &head->list;
	head->list.next = &watcher->owner;
	head->futex_offset = (char *)owner - (char *)&watcher->owner;
	if (!syscall(SYS_set_robust_list, head, sizeof(*head)))
		atomic_store(owner, (uint32_t)gettid());
	else
		log_error(table->attr.log,
			  "set_robust_list: %s: clients of this host cannot "
			  "use what they borrow; allow that system call",
			  strerror(errno));
}

static void check_stuck_writers(struct loan_table *table)
{
	struct object_loan *loan, *next;

	for (loan = TAILQ_FIRST(&table->stuck); loan; loan = next) {
		bool left = stuck_writer_has_left(table, loan);

		if (!left && object_replace_stuck(table, loan)) {
			next = TAILQ_FIRST(&table->stuck);
			continue;
		}
		next = TAILQ_NEXT(loan, stuck_link);
		if (left)
			stuck_writer_complete(table, loan);
	}
}

static void *watch_loans(void *arg)
{
	const struct timespec pause = { .tv_nsec = CHECK_NS };
	struct loan_table *table = arg;

	own_gate(table);
	pthread_mutex_lock(&table->lock);
	table->watcher->running = true;
	pthread_cond_signal(&table->changed);
	while (!table->stopping) {
		if (TAILQ_EMPTY(&table->stuck) &&
		    loan_evictions_are_idle(table)) {
			loan_evictions_wait(table);
			continue;
		}
		check_stuck_writers(table);
		if (loan_evictions_replace_next(table))
			continue;
		pthread_mutex_unlock(&table->lock);
		nanosleep(&pause, NULL);
		pthread_mutex_lock(&table->lock);
	}
	pthread_mutex_unlock(&table->lock);
	return NULL;
}

int loan_watcher_start(struct loan_table *table)
{
	struct loan_watcher *watcher = calloc(1, sizeof(*watcher));
	int rc;

	if (!watcher)
		return -ENOMEM;
	table->watcher = watcher;
	rc = quiet_thread(STACK, watch_loans, table, &watcher->thread);
	pthread_mutex_lock(&table->lock);
	while (!rc && !watcher->running)
		pthread_cond_wait(&table->changed, &table->lock);
	pthread_mutex_unlock(&table->lock);
	return rc;
}

void loan_watcher_stop(struct loan_table *table)
{
	struct object_loan *loan;

	if (table->watcher && table->watcher->running) {
		pthread_mutex_lock(&table->lock);
		table->stopping = true;
		pthread_cond_signal(&table->changed);
		pthread_mutex_unlock(&table->lock);
		pthread_join(table->watcher->thread, NULL);
	}
	while ((loan = TAILQ_FIRST(&table->stuck)))
		stuck_writer_remove(table, loan, loan_session_abandon);
	free(table->watcher);
}
