/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * stuck_writers.c - writers that are inside a direct write when their loan is revoked.  The
 * gate of the object stays closed until they leave, or until the object is replaced.
 */
#include "common/util/clock.h"
#include "server/lend/loan_table_int.h"

void stuck_writer_add(struct loan_table *table, struct object_loan *loan)
{
	loan->stuck = true;
	loan->killed = false;
	loan->since = clock_now();
	loan->retry_at = 0;
	loan->warned = false;
	loan->ses->stuck++;
	write_hold_add(table, loan->handle);
	gate_enter_late(store_gate(table->attr.store), loan->handle, 1,
			&loan->entry);
	TAILQ_INSERT_TAIL(&table->stuck, loan, stuck_link);
	pthread_cond_signal(&table->changed);
}

void stuck_writer_remove(struct loan_table *table, struct object_loan *loan,
			 loan_session_end_fn *end)
{
	struct loan_session *ses = loan->ses;

	TAILQ_REMOVE(&table->stuck, loan, stuck_link);
	write_hold_remove(table, loan->handle);
	gate_leave(store_gate(table->attr.store), &loan->entry);
	loan->stuck = false;
	ses->stuck--;
	if (loan_session_is_over(ses))
		end(table, ses);
}

void stuck_writer_complete(struct loan_table *table, struct object_loan *loan)
{
	loan_ignore_mark(loan);
	stuck_writer_remove(table, loan, loan_session_free);
}

void stuck_writers_complete_object(struct loan_table *table, uint64_t handle)
{
	struct object_loan *loan, *next;

	for (loan = TAILQ_FIRST(&table->stuck); loan; loan = next) {
		next = TAILQ_NEXT(loan, stuck_link);
		if (loan->handle == handle)
			stuck_writer_complete(table, loan);
	}
}

bool stuck_writers_has_object(const struct loan_table *table, uint64_t handle)
{
	const struct object_loan *loan;

	TAILQ_FOREACH(loan, &table->stuck, stuck_link)
		if (loan->handle == handle)
			return true;
	return false;
}

/* ---- for the watcher ---- */

void stuck_writer_kill(struct loan_table *table, struct object_loan *loan)
{
	const struct loan_session *ses = loan->ses;

	loan->killed = true;
	if (!borrower_process_maps_file(&ses->process, ses->files.marks_fd))
		return;
	log_warn(table->attr.log,
		 "%s: pid %ld is stuck inside a write to an object whose loan "
		 "is revoked: killing it, because other clients wait for the "
		 "object",
		 ses->peer, (long)ses->process.pid);
	borrower_process_kill(&ses->process);
}

static bool is_outside(const struct object_loan *loan)
{
	const struct loan_session *ses = loan->ses;

	return !loan_files_is_inside(&ses->files, loan_index(loan)) ||
	       borrower_process_has_ended(&ses->process) ||
	       (loan->killed && !borrower_process_maps_file(
					&ses->process, ses->files.marks_fd));
}

/* The loan stays stuck without the lock, because only the watcher removes it. */
bool stuck_writer_has_left(struct loan_table *table, struct object_loan *loan)
{
	bool left;

	pthread_mutex_unlock(&table->lock);
	left = is_outside(loan);
	pthread_mutex_lock(&table->lock);
	return left;
}

void stuck_writers_check_others(struct loan_table *table, uint64_t handle)
{
	struct object_loan *loan, *next;
	bool left;

	for (loan = TAILQ_FIRST(&table->stuck); loan; loan = next) {
		left = loan->handle != handle &&
		       stuck_writer_has_left(table, loan);
		next = TAILQ_NEXT(loan, stuck_link);
		if (left)
			stuck_writer_complete(table, loan);
	}
}
