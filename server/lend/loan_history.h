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

#include "common/util/log.h"

#define LOAN_HISTORY_MAX 65536u

struct loan_history;

/*
 * Reads the history of the process before from the folder dirfd, which stays the caller's.
 * dirfd < 0: starts empty and keeps nothing for the next process.  -ENOMEM or -errno.
 */
int loan_history_open(int dirfd, const struct log *log,
		      struct loan_history **history);
/* NULL: nothing happens. */
void loan_history_close(struct loan_history *history);

/*
 * Records a loan before it is given out.  -errno: not recorded; do not lend then.  A later call
 * tries again.
 */
int loan_history_record(struct loan_history *history, uint64_t session,
			uint64_t handle, bool write);
/* Records a loan that has ended.  An error is logged. */
void loan_history_returned(struct loan_history *history, uint64_t session,
			   uint64_t handle, bool write);
/*
 * The session is evicted, and the object will be replaced, if necessary by the next process.
 * Logged: the next process does not know it.
 */
void loan_history_evict(struct loan_history *history, uint64_t session,
			uint64_t handle);
/* The object is replaced: removes the record. */
void loan_history_erase(struct loan_history *history, uint64_t session,
			uint64_t handle);

/* May call loan_history_evict(), and no other function that changes the history. */
typedef void loan_history_fn(void *arg, uint64_t session, uint64_t handle,
			     bool write);
/* Calls fn for each object of the session. */
void loan_history_visit(struct loan_history *history, uint64_t session,
			loan_history_fn *fn, void *arg);
/* Calls fn for each record that loan_history_evict() marked, of any session. */
void loan_history_visit_evicted(struct loan_history *history,
				loan_history_fn *fn, void *arg);

#endif
