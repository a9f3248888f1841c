/* SPDX-License-Identifier: BSD-2-Clause */
/* loan_recovery.c - revokes the loans of the process before, by the files that it left. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/util/clock.h"
#include "server/lend/loan_table_int.h"

#define WAIT_MS 2000u /* for a writer of an earlier release to leave */

/* Other writers do not count: the watcher waits for them later. */
static bool is_outside(const struct loan_files *f,
		       const struct borrower_process *p)
{
	bool marked[LOAN_PAGE_OBJECTS];
	uint32_t i;

	loan_files_find_marks(f, marked);
	for (i = 0; i < LOAN_PAGE_OBJECTS; i++)
		if (marked[i] && loan_files_mark_action(f, i) == MARK_WAIT)
			return borrower_process_has_ended(p);
	return true;
}

static bool wait_until_outside(const struct loan_files *f,
			       const struct borrower_process *p)
{
	const struct timespec soon = { .tv_nsec = 1000000 };
	uint64_t late = clock_after_ms(WAIT_MS);

	while (!is_outside(f, p)) {
		if (clock_now() > late)
			return false;
		nanosleep(&soon, NULL);
	}
	return true;
}

/*
 * Waits until the client has left its writes, or has ended.  Its objects cannot be replaced
 * instead: a program of an earlier release would not notice the copy. -EBUSY, logged: it is still
 * inside after WAIT_MS.
 */
static int wait_for_writers(struct loan_table *table,
			    const struct loan_files *f,
			    const struct borrower_process *p)
{
	if (wait_until_outside(f, p) ||
	    !borrower_process_maps_file(p, f->marks_fd))
		return 0;
	log_error(table->attr.log,
		  "pid %ld, a program of an earlier release, is stuck inside a "
		  "write to storage %s: end it and start the iod again",
		  (long)p->pid, table->attr.dir);
	return -EBUSY;
}

/* Writers find out that their object is replaced. */
static void revoke_all(const struct loan_files *f)
{
	uint32_t i;

	for (i = 0; i < LOAN_PAGE_OBJECTS; i++)
		if (loan_files_mark_action(f, i) == MARK_REPLACE)
			atomic_store(&f->terms->lent.word[i], LOAN_PAGE_ASIDE);
	loan_terms_revoke(&f->terms->lent);
}

static void add_stuck_writers(struct loan_table *table,
			      struct loan_session *ses)
{
	bool marked[LOAN_PAGE_OBJECTS];
	struct object_loan *loan;
	uint32_t i;

	loan_files_find_marks(&ses->files, marked);
	for (i = 0; i < LOAN_PAGE_OBJECTS; i++) {
		if (!marked[i] ||
		    loan_files_mark_action(&ses->files, i) != MARK_REPLACE)
			continue;
		loan = &ses->loan[i];
		loan->ses = ses;
		loan->key = object_key_own(
			atomic_load(&ses->files.terms->handle[i]));
		loan->write = true;
		stuck_writer_add(table, loan);
	}
}

/*
 * Makes a session for a client that borrowed from the previous iod process and may still be inside
 * a write.  Until the watcher has replaced the objects that the client is writing to, their gates
 * stay closed.  On success the session owns p and f.
 */
static int adopt_session(struct loan_table *table, struct loan_files *f,
			 struct borrower_process *p)
{
	struct loan_session *ses = calloc(1, sizeof(*ses));

	if (!ses)
		return -ENOMEM;
	ses->id = f->terms->lent.session;
	ses->process = *p;
	ses->files = *f;
	ses->ended = true;
	snprintf(ses->peer, sizeof(ses->peer),
		 "client of the previous iod process");
	add_stuck_writers(table, ses);
	if (loan_session_is_over(ses))
		loan_session_free(table, ses);
	return 0;
}

static int remove_files(struct loan_table *table, struct loan_files *f)
{
	loan_files_unlink(table->dirfd, f, f->terms->lent.session);
	loan_files_close(f);
	return 0;
}

/* The session can be evicted later, or was when the process ended. */
static void record_loans(struct loan_table *table, const struct loan_files *f)
{
	uint64_t handle;

	for (uint32_t i = 0; !f->legacy && i < LOAN_PAGE_OBJECTS; i++) {
		handle = atomic_load(&f->terms->handle[i]);
		if (handle)
			loan_history_returned(table->history,
					      f->terms->lent.session,
					      object_key_own(handle), true);
	}
}

/* A process with another start time is a different one with the same pid. */
static int end_session(struct loan_table *table, struct loan_files *f)
{
	struct borrower_process p;
	int rc;

	revoke_all(f);
	record_loans(table, f);
	rc = borrower_process_open((pid_t)f->terms->lent.pid, &p);
	if (rc == -ESRCH)
		return remove_files(table, f);
	if (rc) {
		loan_files_close(f);
		return rc;
	}
	if (p.start_time != f->terms->lent.began) {
		borrower_process_close(&p);
		return remove_files(table, f);
	}
	rc = wait_for_writers(table, f, &p);
	if (!rc)
		rc = adopt_session(table, f, &p);
	if (rc) {
		loan_files_close(f);
		borrower_process_close(&p);
	}
	return rc;
}

static int end_file(struct loan_table *table, const char *name)
{
	struct loan_files f;
	int rc = loan_files_open(table->dirfd, name, &f);

	if (!rc)
		return end_session(table, &f);
	/* half made, or without marks: was not lent */
	if (rc == -ENOENT || rc == -ENODATA)
		return unlinkat(table->dirfd, name, 0) ? -errno : 0;
	return rc;
}

static bool is_terms(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot && !strcmp(dot, ".terms");
}

/* Marks without terms were not lent yet. */
static int end_entry(struct loan_table *table, const char *name, bool terms)
{
	if (name[0] == '.' || is_terms(name) != terms)
		return 0;
	if (terms)
		return end_file(table, name);
	return unlinkat(table->dirfd, name, 0) && errno != ENOENT ? -errno : 0;
}

static int end_entries(struct loan_table *table, bool terms)
{
	struct dirent *de;
	int rc = 0, fd = dup(table->dirfd);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir) {
		rc = -errno;
		if (fd >= 0)
			close(fd);
		return rc;
	}
	rewinddir(dir);
	while (!rc && (de = readdir(dir)))
		rc = end_entry(table, de->d_name, terms);
	closedir(dir);
	return rc;
}

int loan_recovery_run(struct loan_table *table)
{
	int rc = end_entries(table, true);

	return rc ? rc : end_entries(table, false);
}
