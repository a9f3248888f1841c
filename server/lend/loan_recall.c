/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * loan_recall.c - revokes loans: of a session, of an object, or when a time has passed.  If a
 * writer is inside a direct write, the gate of the object stays closed until the writer leaves, or
 * until the object is replaced.
 */
#include <stdlib.h>

#include "common/util/clock.h"
#include "server/lend/loan_table_int.h"

/* ---- stuck writers ---- */

void stuck_writer_add(struct loan_table *table, struct object_loan *loan)
{
	loan->stuck = true;
	loan->killed = false;
	loan->since = clock_now();
	loan->retry_at = 0;
	loan->warned = false;
	loan->ses->stuck++;
	write_hold_add(table, loan->key);
	gate_enter_late(store_gate(table->attr.store), loan->key, 1,
			&loan->entry);
	TAILQ_INSERT_TAIL(&table->stuck, loan, stuck_link);
	pthread_cond_signal(&table->changed);
}

void stuck_writer_remove(struct loan_table *table, struct object_loan *loan,
			 loan_session_end_fn *end)
{
	struct loan_session *ses = loan->ses;

	TAILQ_REMOVE(&table->stuck, loan, stuck_link);
	write_hold_remove(table, loan->key);
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

void stuck_writers_complete_object(struct loan_table *table,
				   struct object_key key)
{
	struct object_loan *loan, *next;

	for (loan = TAILQ_FIRST(&table->stuck); loan; loan = next) {
		next = TAILQ_NEXT(loan, stuck_link);
		if (object_key_equal(loan->key, key))
			stuck_writer_complete(table, loan);
	}
}

bool stuck_writers_has_object(const struct loan_table *table,
			      struct object_key key)
{
	const struct object_loan *loan;

	TAILQ_FOREACH(loan, &table->stuck, stuck_link)
		if (object_key_equal(loan->key, key))
			return true;
	return false;
}

/* ---- for the watcher ---- */

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

void stuck_writers_check_others(struct loan_table *table, struct object_key key)
{
	struct object_loan *loan, *next;
	bool left;

	for (loan = TAILQ_FIRST(&table->stuck); loan; loan = next) {
		left = !object_key_equal(loan->key, key) &&
		       stuck_writer_has_left(table, loan);
		next = TAILQ_NEXT(loan, stuck_link);
		if (left)
			stuck_writer_complete(table, loan);
	}
}

/* ---- revoking ---- */

/* A writer that missed the revocation has set its mark before, so the marks show it. */
static void check_marks(struct loan_table *table, struct loan_session *ses,
			const bool *revoked)
{
	bool marked[LOAN_PAGE_OBJECTS];
	unsigned int i;

	atomic_thread_fence(memory_order_seq_cst);
	loan_files_find_marks(&ses->files, marked);
	for (i = 0; i < LOAN_PAGE_OBJECTS; i++) {
		if (revoked[i] && marked[i])
			stuck_writer_add(table, &ses->loan[i]);
		else if (revoked[i])
			loan_ignore_mark(&ses->loan[i]);
	}
}

/* Revokes the loans of the session that the filter accepts. */
static void revoke_loans(struct loan_table *table, struct loan_session *ses,
			 bool (*filter)(const struct object_loan *loan,
					const void *arg),
			 const void *arg)
{
	bool revoked[LOAN_PAGE_OBJECTS] = { false }, some = false;
	uint32_t i;

	for (i = 0; i < LOAN_PAGE_OBJECTS; i++) {
		if (!ses->loan[i].number || !filter(&ses->loan[i], arg))
			continue;
		revoked[i] = ses->loan[i].write;
		some |= revoked[i];
		if (revoked[i]) /* until the marks are checked */
			write_hold_add(table, ses->loan[i].key);
		loan_revoke(table, &ses->loan[i]);
	}
	if (some)
		check_marks(table, ses, revoked);
	for (i = 0; some && i < LOAN_PAGE_OBJECTS; i++)
		if (revoked[i])
			write_hold_remove(table, ses->loan[i].key);
}

/* ---- of a session ---- */

static bool is_returned(const struct object_loan *loan, const void *arg)
{
	const struct loan_page_marks *marks = arg;

	return atomic_load(&marks->back[loan_index(loan)]);
}

/* A client can say so and still be inside a write. */
void loan_recall_returned(struct loan_table *table, struct loan_session *ses)
{
	struct loan_page_marks marks;

	if (loan_files_read_marks(&ses->files, &marks))
		revoke_loans(table, ses, is_returned, &marks);
}

static bool is_any(const struct object_loan *loan, const void *arg)
{
	return true;
}

void loan_session_end(struct loan_table *table, uint64_t session)
{
	struct loan_session *ses;

	pthread_mutex_lock(&table->lock);
	ses = loan_session_find(table, session);
	if (ses) {
		HASH_DEL(table->sessions, ses);
		revoke_loans(table, ses, is_any, NULL);
		loan_session_report_usage(table, ses);
		ses->ended = true;
		if (loan_session_is_over(ses))
			loan_session_free(table, ses);
	}
	pthread_mutex_unlock(&table->lock);
}

/* ---- of an object ---- */

static bool has_key(const struct object_loan *loan, const void *key)
{
	return object_key_equal(loan->key, *(const struct object_key *)key);
}

static struct object_loan *find_loan(struct loan_table *table,
				     struct object_key key)
{
	struct object_loan *loan;

	LIST_FOREACH(loan, loan_bucket(table, key), link)
		if (object_key_equal(loan->key, key))
			break;
	return loan;
}

/* All stuck writers have had LOAN_REPLACE_MS, so running ones have left. */
static bool is_replaceable(const struct loan_table *table,
			   struct object_key key)
{
	const struct object_loan *loan;
	uint64_t now = clock_now();

	TAILQ_FOREACH(loan, &table->stuck, stuck_link)
		if (object_key_equal(loan->key, key) &&
		    now - loan->since < LOAN_REPLACE_MS * CLOCK_NS_PER_MS)
			return false;
	return true;
}

static void tell_stuck_writers(struct loan_table *table, struct object_key key)
{
	struct object_loan *loan;

	TAILQ_FOREACH(loan, &table->stuck, stuck_link)
		if (object_key_equal(loan->key, key))
			atomic_store(&loan->ses->files.terms->lent
					      .word[loan_index(loan)],
				     LOAN_PAGE_ASIDE);
	/* a later copy contains all writes of a writer that did not see this word */
	atomic_thread_fence(memory_order_seq_cst);
}

/* A writer that is not seen inside sees that its loan is revoked. */
bool loan_recall_object(struct loan_table *table, struct object_key key)
{
	struct object_loan *loan;

	while ((loan = find_loan(table, key)))
		revoke_loans(table, loan->ses, has_key, &key);
	if (!is_replaceable(table, key))
		return false;
	tell_stuck_writers(table, key);
	return true;
}

/* Writers that are inside do no harm: the file is no longer an object. */
static void drop_loans(struct loan_table *table, struct object_key key)
{
	struct object_loan *loan, *next;

	for (loan = LIST_FIRST(loan_bucket(table, key)); loan; loan = next) {
		next = LIST_NEXT(loan, link);
		if (!object_key_equal(loan->key, key))
			continue;
		loan_revoke(table, loan);
		loan_ignore_mark(loan);
	}
}

void loan_object_drop(struct loan_table *table, struct object_key key)
{
	if (!atomic_load(&table->count))
		return;
	pthread_mutex_lock(&table->lock);
	drop_loans(table, key);
	pthread_mutex_unlock(&table->lock);
}

/* ---- by time ---- */

static bool can_expire(const struct object_loan *loan, const void *arg)
{
	return loan->until != UINT64_MAX;
}

void loan_table_set_era(struct loan_table *table, uint32_t era)
{
	struct loan_session *ses, *next;

	pthread_mutex_lock(&table->lock);
	if (table->era != era)
		HASH_ITER(hh, table->sessions, ses, next)
			revoke_loans(table, ses, can_expire, NULL);
	table->era = era;
	pthread_mutex_unlock(&table->lock);
}

struct expiry {
	uint64_t now, next;
};

/* Whether the loan has expired.  If not, expiry->next becomes at most the time of its expiry. */
static bool has_expired(const struct object_loan *loan, const void *arg)
{
	struct expiry *expiry = (void *)(uintptr_t)arg;

	if (loan->until <= expiry->now)
		return true;
	if (loan->until < expiry->next)
		expiry->next = loan->until;
	return false;
}

static void revoke_expired(struct loan_table *table)
{
	struct expiry expiry = { clock_boot(), UINT64_MAX };
	struct loan_session *ses, *next;

	pthread_mutex_lock(&table->lock);
	HASH_ITER(hh, table->sessions, ses, next)
		revoke_loans(table, ses, has_expired, &expiry);
	atomic_store(&table->next_expiry, expiry.next);
	pthread_mutex_unlock(&table->lock);
}

static bool is_for_writing(const struct object_loan *loan, const void *arg)
{
	return loan->write;
}

void loan_table_expire(struct loan_table *table)
{
	struct loan_session *ses, *next;

	if (atomic_load(&table->next_expiry) != UINT64_MAX &&
	    clock_boot() >= atomic_load(&table->next_expiry))
		revoke_expired(table);
	if (!atomic_load(&table->writers) ||
	    clock_boot() < gate_ends(store_gate(table->attr.store)))
		return;
	pthread_mutex_lock(&table->lock);
	HASH_ITER(hh, table->sessions, ses, next)
		revoke_loans(table, ses, is_for_writing, NULL);
	pthread_mutex_unlock(&table->lock);
}
