/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * loan_history.h - the objects that sessions borrow or have borrowed.
 *
 * A client can keep the descriptor of an object that it returned.  So if its session is evicted,
 * all objects of its history have to be replaced.  An object counts once in a session.  The
 * history holds LOAN_HISTORY_MAX objects; then each new one replaces the oldest.
 *
 * DIR/lent/.had keeps the history for the next process.  Each record lies in one page, so a
 * crash leaves all of it or nothing.
 *
 * The caller owns the history and serialises the calls (loan_table's lock).
 */
#ifndef LOAN_HISTORY_H
#define LOAN_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "common/dist/object_key.h"
#include "common/util/log.h"

#define LOAN_HISTORY_MAX 65536u

struct loan_history;

/*
 * Reads the history of the process before from .had in the folder dirfd.  The caller keeps dirfd,
 * and closes it after the history.  dirfd < 0: starts empty and keeps nothing for the next
 * process. -ENOMEM, or -errno of the file.
 */
int loan_history_open(int dirfd, const struct log *log,
		      struct loan_history **history);
/* NULL: nothing happens. */
void loan_history_close(struct loan_history *history);

/*
 * Records that the object is about to be lent to the session.  -errno of the file: the loan is not
 * recorded, and the caller must not lend the object now.  A later call tries again.
 */
int loan_history_record(struct loan_history *history, uint64_t session,
			struct object_key object, bool write);
/* Records a loan that has ended.  An error is logged. */
void loan_history_returned(struct loan_history *history, uint64_t session,
			   struct object_key object, bool write);
/*
 * Records that the session is evicted and the object must be replaced by a copy, if necessary by
 * the next process.  If the record cannot be written, the error is logged, and the next process
 * does not replace the object.
 */
void loan_history_evict(struct loan_history *history, uint64_t session,
			struct object_key object);
/* The object is replaced: removes the record. */
void loan_history_erase(struct loan_history *history, uint64_t session,
			struct object_key object);

/* May change the history by loan_history_evict() only. */
typedef void loan_history_fn(void *arg, uint64_t session,
			     struct object_key object, bool write);
/* Calls fn for each object of the session. */
void loan_history_visit(struct loan_history *history, uint64_t session,
			loan_history_fn *fn, void *arg);
/* Calls fn for each record that loan_history_evict() marked, of any session. */
void loan_history_visit_evicted(struct loan_history *history,
				loan_history_fn *fn, void *arg);

#endif
