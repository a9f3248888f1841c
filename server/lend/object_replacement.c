/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * object_replacement.c - replaces an object by a copy, so that what a borrower still writes to
 * the old file is not in the object (common/wire/loan_pages.h).
 */
#include <errno.h>
#include <string.h>

#include "common/util/clock.h"
#include "server/lend/loan_table_int.h"

#define CHECK_MS 10u
#define RETRY_MS 100u /* if there was no room for a copy */

struct replacement {
	struct loan_table *table;
	uint64_t handle;
	uint64_t check_at; /* other stuck writers, clock_now() */
};

/* A long copy must not keep the gates of other objects closed after their writers have left. */
static bool continue_copy(void *arg)
{
	struct replacement *r = arg;

	if (clock_now() >= r->check_at) {
		pthread_mutex_lock(&r->table->lock);
		stuck_writers_check_others(r->table, r->handle);
		pthread_mutex_unlock(&r->table->lock);
		r->check_at = clock_after_ms(CHECK_MS);
	}
	return !atomic_load(&r->table->stopping);
}

/* Serving threads need the lock during the copy. */
static int copy_object(struct loan_table *table, uint64_t handle)
{
	struct replacement r = { table, handle, clock_after_ms(CHECK_MS) };
	const struct store_copy_control control = { continue_copy, &r };
	int rc;

	if (!loan_recall_object(table, handle))
		return -EAGAIN;
	pthread_mutex_unlock(&table->lock);
	rc = store_obj_replace(table->attr.store, handle, &control);
	pthread_mutex_lock(&table->lock);
	return rc;
}

int object_replace(struct loan_table *table, uint64_t handle)
{
	int rc = copy_object(table, handle);

	if (!rc)
		stuck_writers_complete_object(table, handle);
	return rc;
}

/* ---- the object of a stuck writer ---- */

static bool is_due(const struct object_loan *loan)
{
	uint64_t now = clock_now();

	return now - loan->since >= LOAN_REPLACE_MS * CLOCK_NS_PER_MS &&
	       now >= loan->retry_at;
}

static void log_success(const struct loan_table *table,
			const struct object_loan *loan)
{
	log_info(table->attr.log,
		 "%s: pid %ld stayed inside a write to object %016llx: the "
		 "object was replaced by a copy, and the rest of the write is "
		 "discarded; no action is needed",
		 loan->ses->peer, (long)loan->ses->process.pid,
		 (unsigned long long)loan->handle);
}

static void log_failure(const struct loan_table *table,
			struct object_loan *loan, int rc)
{
	if (loan->warned)
		return;
	loan->warned = true;
	log_warn(table->attr.log,
		 "%s: pid %ld stays inside a write to object %016llx, which "
		 "cannot be replaced by a copy: %s; other clients wait for the "
		 "object: free some space, or end the process",
		 loan->ses->peer, (long)loan->ses->process.pid,
		 (unsigned long long)loan->handle, strerror(-rc));
}

/* A running process is not killed: it may have left the write by a jump. */
static void kill_stopped(struct loan_table *table, struct object_loan *loan)
{
	const struct borrower_process *p = &loan->ses->process;

	if (loan->killed ||
	    clock_now() - loan->since < LOAN_KILL_MS * CLOCK_NS_PER_MS)
		return;
	pthread_mutex_unlock(&table->lock);
	if (borrower_process_is_stopped(p) && borrower_process_is_killable(p))
		stuck_writer_kill(table, loan);
	pthread_mutex_lock(&table->lock);
}

bool object_replace_stuck(struct loan_table *table, struct object_loan *loan)
{
	int rc;

	if (!is_due(loan))
		return false;
	rc = copy_object(table, loan->handle);
	if (!rc) {
		log_success(table, loan);
		stuck_writers_complete_object(table, loan->handle);
		return true;
	}
	loan->retry_at = clock_after_ms(rc == -EAGAIN ? 1 : RETRY_MS);
	if (rc != -EAGAIN && rc != -ECANCELED) {
		log_failure(table, loan, rc);
		kill_stopped(table, loan);
	}
	return false;
}
