/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * loan_files.h - the two shared pages of a session (common/wire/loan_pages.h): the terms,
 * which this process writes, and the marks, which the client writes.
 *
 * Files in DIR/lent are named SESSION.terms and SESSION.marks: with them the next process of the
 * iod revokes what this process lent.  Files without names are memfds and end with this process.
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

/* The action for a mark that is still set after the loan is revoked. */
enum mark_action {
	MARK_IGNORE, /* nothing: the object was not lent for writing, or was replaced */
	MARK_REPLACE, /* replace the object by a copy */
	MARK_WAIT, /* wait until the writer leaves; only earlier releases lent so */
};

/* The file of terms.  Clients know only the first member; the rest is for the next process. */
struct loan_terms {
	struct loan_page_terms lent;
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
 * Creates both files for a session of this process.  dirfd < 0: without names.  A client that has
 * a file open for writing can delay the removal of its name without limit.
 * On success *files owns descriptors and a mapping.
 */
int loan_files_create(int dirfd, uint64_t session,
		      const struct borrower_process *process,
		      struct loan_files *files);
/* Opens the files of an earlier process by the name of its terms.  -ENODATA: too short. */
int loan_files_open(int dirfd, const char *terms, struct loan_files *files);
void loan_files_close(struct loan_files *files);
/* Removes the names, if the files have any. */
void loan_files_unlink(int dirfd, const struct loan_files *files,
		       uint64_t session);

/*
 * Revokes all loans of the terms, except words that say LOAN_PAGE_ASIDE.  Ends with a full
 * barrier: a writer that missed the revocation has set its mark before, so a later read of the
 * marks sees it.
 */
void loan_terms_revoke(struct loan_page_terms *terms);
/* The action for the mark of this index; MARK_WAIT for legacy files. */
enum mark_action loan_files_mark_action(const struct loan_files *files,
					uint32_t index);

/* Copies the marks.  False: they cannot be read. */
bool loan_files_read_marks(const struct loan_files *files,
			   struct loan_page_marks *marks);
/* Copies marks and counters; a page that is too short is filled with zeros.  False: no marks. */
bool loan_files_read_page(const struct loan_files *files,
			  struct loan_page_file *page);
/* Tells for each index whether it is marked.  All are, if the marks cannot be read. */
void loan_files_find_marks(const struct loan_files *files,
			   bool marked[LOAN_PAGE_OBJECTS]);
/* A thread is inside a write with this index; LOAN_PAGE_OBJECTS: with any.  True if unreadable. */
bool loan_files_is_inside(const struct loan_files *files, uint32_t index);

#endif
