/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * loan_files.h - the two shared pages of a session (common/wire/loan_pages.h): the terms, which
 * this process writes, and the marks, which the client writes.
 *
 * Files with names are DIR/lent/SESSION.terms and SESSION.marks: with them the next process of
 * the iod revokes the loans of this process.  Files without names are memfds and end with this
 * process.
 *
 * The caller owns the struct and serialises its calls; only single words of *terms are atomic.
 * Errors are -errno; nothing is logged here.
 */
#ifndef LOAN_FILES_H
#define LOAN_FILES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/wire/loan_pages.h"
#include "server/lend/borrower_process.h"

/* The reaction if the mark of a loan is still set after the loan is revoked: a writer is inside. */
enum mark_action {
	MARK_IGNORE, /* nothing: the object was not lent for writing, or was replaced */
	MARK_REPLACE, /* replace the object by a copy */
	MARK_WAIT, /* wait until the writer leaves: the loan is of an earlier release */
};

/* The file of terms.  Clients know only the first member; the rest is for the next process. */
struct loan_terms {
	struct loan_page_terms lent;
	/* of the object; 0: of another group than the own one, which is lent for reading only */
	_Atomic uint64_t handle[LOAN_PAGE_OBJECTS];
	_Atomic uint8_t action[LOAN_PAGE_OBJECTS]; /* enum mark_action */
};

struct loan_files {
	int terms_fd; /* the client's: for reading only */
	int marks_fd;
	struct loan_terms *terms; /* mapped for writing, or NULL */
	bool legacy; /* terms of an earlier release: only terms->lent exists */
	bool named; /* the files have names in DIR/lent */
};

/*
 * Creates both files of a session in dirfd (DIR/lent), where the next process of the iod finds
 * them.  If dirfd < 0, the files are memfds.  Pass -1 for a client that is not trusted, because a
 * client that has a file open for writing can block the unlink of its name without limit.  Pass -1
 * also for loans for reading only, which the next process need not revoke.  The pid and start time
 * of process, the client, are stored in the terms.  On success *files owns the descriptors and the
 * mapping.
 */
int loan_files_create(int dirfd, uint64_t session,
		      const struct borrower_process *process,
		      struct loan_files *files);
/*
 * Opens the files of an earlier process of the iod.  terms: the name of the file of terms in
 * dirfd. On success *files owns descriptors and a mapping.  -ENODATA: a file is too short.
 */
int loan_files_open(int dirfd, const char *terms, struct loan_files *files);
void loan_files_close(struct loan_files *files);
/* Removes the names, if the files have any. */
void loan_files_unlink(int dirfd, const struct loan_files *files,
		       uint64_t session);

/*
 * Clears the word of each loan in the terms, except words that say LOAN_PAGE_ASIDE.  Ends with a
 * full barrier: a writer that has not seen the cleared word has set its mark before, so a later
 * read of the marks finds the mark.
 */
void loan_terms_revoke(struct loan_page_terms *terms);
/* The action for the mark of the loan with this index; MARK_WAIT for legacy files. */
enum mark_action loan_files_mark_action(const struct loan_files *files,
					uint32_t index);

/* Copies the client's marks to *marks.  False: they cannot be read. */
bool loan_files_read_marks(const struct loan_files *files,
			   struct loan_page_marks *marks);
/*
 * Copies the client's marks and counters to *page, with zeros where the file is too short.  False:
 * the marks cannot be read.
 */
bool loan_files_read_page(const struct loan_files *files,
			  struct loan_page_file *page);
/* Sets marked[i] if the mark of loan i is set.  Sets all if the marks cannot be read. */
void loan_files_find_marks(const struct loan_files *files,
			   bool marked[LOAN_PAGE_OBJECTS]);
/*
 * Whether a thread of the client is inside a write to the loan with this index (LOAN_PAGE_OBJECTS:
 * to any loan).  True also if the marks cannot be read.
 */
bool loan_files_is_inside(const struct loan_files *files, uint32_t index);

#endif
