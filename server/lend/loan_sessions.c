/* SPDX-License-Identifier: BSD-2-Clause */
/* loan_sessions.c - the sessions that borrow, and their loans. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/clock.h"
#include "common/util/process_limits.h"
#include "server/lend/loan_table_int.h"

#define SPARE 1024u /* descriptors for peers and objects */

/* ---- sessions ---- */

struct loan_session *loan_session_find(struct loan_table *table, uint64_t id)
{
	struct loan_session *ses;

	HASH_FIND(hh, table->sessions, &id, sizeof(id), ses);
	return ses;
}

static void close_session(struct loan_session *ses)
{
	loan_files_close(&ses->files);
	borrower_process_close(&ses->process);
	free(ses);
}

void loan_session_free(struct loan_table *table, struct loan_session *ses)
{
	loan_files_unlink(table->dirfd, &ses->files, ses->id);
	close_session(ses);
}

/* A client that still runs has its descriptors, and its session can still be evicted. */
void loan_session_abandon(struct loan_table *table, struct loan_session *ses)
{
	loan_terms_revoke(&ses->files.terms->lent);
	if (!ses->keep_files && borrower_process_has_ended(&ses->process) &&
	    !loan_files_is_inside(&ses->files, LOAN_PAGE_OBJECTS))
		loan_files_unlink(table->dirfd, &ses->files, ses->id);
	close_session(ses);
}

static int open_process(struct borrower_process *process,
			const struct loan_request *request)
{
	int rc = borrower_process_open(request->pid, process);

	if (!rc && !borrower_process_has_user(process, request->uid))
		rc = -ESRCH;
	return rc;
}

static int fill_session(struct loan_table *table, struct loan_session *ses,
			const struct loan_request *request)
{
	/* readers leave nothing to do for the next process */
	bool named = !table->attr.reads && request->trusted;
	int rc = open_process(&ses->process, request);

	if (!rc)
		rc = loan_files_create(named ? table->dirfd : -1,
				       request->session, &ses->process,
				       &ses->files);
	if (rc)
		return rc;
	ses->id = request->session;
	ses->who = request->who;
	loan_counters_start(&ses->counters, clock_boot());
	snprintf(ses->peer, sizeof(ses->peer), "%s", request->peer);
	HASH_ADD(hh, table->sessions, id, sizeof(ses->id), ses);
	if (ses->hh.tbl)
		return 0;
	loan_files_unlink(table->dirfd, &ses->files, request->session);
	return -ENOMEM;
}

static int create_session(struct loan_table *table,
			  const struct loan_request *request,
			  struct loan_session **out)
{
	struct loan_session *ses;
	int rc;

	if (!atomic_load(gate_owner(store_gate(table->attr.store))))
		return -EOPNOTSUPP;
	if (HASH_COUNT(table->sessions) >= LOAN_SESSIONS_MAX ||
	    descriptors_short(table->dirfd, SPARE, 0))
		return -EMFILE;
	ses = calloc(1, sizeof(*ses));
	if (!ses)
		return -ENOMEM;
	ses->process.fd = ses->files.terms_fd = ses->files.marks_fd = -1;
	rc = fill_session(table, ses, request);
	if (rc)
		close_session(ses);
	else
		*out = ses;
	return rc;
}

/* All loans of a session belong to one process. */
int loan_session_get(struct loan_table *table,
		     const struct loan_request *request,
		     struct loan_session **out)
{
	struct loan_session *ses = loan_session_find(table, request->session);

	if (!ses)
		return create_session(table, request, out);
	if (ses->process.pid != request->pid)
		return -ESRCH;
	*out = ses;
	return 0;
}

void loan_session_report_usage(struct loan_table *table,
			       struct loan_session *ses)
{
	struct loan_usage usage[2];
	struct loan_page_file page;

	if (!table->attr.add_usage || !loan_files_read_page(&ses->files, &page))
		return;
	loan_counters_update(&ses->counters, &page, clock_boot(), usage);
	if (usage[0].n || usage[1].n)
		table->attr.add_usage(table->attr.arg, &ses->who, usage);
}

/* ---- loans ---- */

void write_hold_add(struct loan_table *table, struct object_key key)
{
	atomic_fetch_add(&table->writer_holds[key.handle % LOAN_BUCKETS], 1);
	store_change_begin(table->attr.store, key);
}

void write_hold_remove(struct loan_table *table, struct object_key key)
{
	store_change_end(table->attr.store, key);
	atomic_fetch_sub(&table->writer_holds[key.handle % LOAN_BUCKETS], 1);
}

bool loan_object_has_writer(const struct loan_table *table,
			    struct object_key key)
{
	return atomic_load(&table->writer_holds[key.handle % LOAN_BUCKETS]);
}

/*
 * Returns an unused loan of the session, or NULL.  Skips a loan whose mark is still set: the mark
 * would be taken for a write to the next object.
 */
struct object_loan *loan_find_unused(struct loan_session *ses)
{
	bool marked[LOAN_PAGE_OBJECTS];
	uint32_t i;

	loan_files_find_marks(&ses->files, marked);
	for (i = 0; i < LOAN_PAGE_OBJECTS; i++)
		if (!ses->loan[i].number && !ses->loan[i].stuck && !marked[i])
			return &ses->loan[i];
	return NULL;
}

void loan_ignore_mark(const struct object_loan *loan)
{
	atomic_store(&loan->ses->files.terms->action[loan_index(loan)],
		     MARK_IGNORE);
}

/*
 * Stores in the terms what an iod does if it finds the client's mark still set after the loan is
 * revoked (mark_action).  Called before the client can set the mark.  The terms have no room for
 * the group of an object, and need none: only objects of the own group are lent for writing, and
 * the history has all objects.
 */
static void set_mark_action(const struct object_loan *loan)
{
	struct loan_terms *terms = loan->ses->files.terms;
	uint32_t i = loan_index(loan);

	atomic_store(&terms->handle[i],
		     object_key_is_own(loan->key) ? loan->key.handle : 0);
	atomic_store(&terms->action[i],
		     loan->write ? MARK_REPLACE : MARK_IGNORE);
}

void loan_start(struct loan_table *table, struct loan_session *ses,
		struct object_loan *loan, struct object_key key, bool write,
		const struct loan_request *request)
{
	loan->ses = ses;
	loan->number = ++table->last_number;
	loan->key = key;
	loan->write = write;
	loan->until = request->until;
	if (loan->until < atomic_load(&table->next_expiry))
		atomic_store(&table->next_expiry, loan->until);
	set_mark_action(loan);
	LIST_INSERT_HEAD(loan_bucket(table, key), loan, link);
	atomic_fetch_add(&table->count, 1);
	if (write) {
		atomic_fetch_add(&table->writers, 1);
		write_hold_add(table, key);
	}
	atomic_store(&ses->files.terms->lent.word[loan_index(loan)],
		     loan->number);
}

void loan_revoke(struct loan_table *table, struct object_loan *loan)
{
	atomic_store(&loan->ses->files.terms->lent.word[loan_index(loan)], 0);
	loan_history_returned(table->history, loan->ses->id, loan->key,
			      loan->write);
	LIST_REMOVE(loan, link);
	loan->number = 0;
	atomic_fetch_sub(&table->count, 1);
	if (loan->write) {
		atomic_fetch_sub(&table->writers, 1);
		write_hold_remove(table, loan->key);
	}
}
