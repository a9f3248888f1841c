/* SPDX-License-Identifier: BSD-2-Clause */
/* direct_int.h - transfers that this process does itself. */
#ifndef DIRECT_INT_H
#define DIRECT_INT_H

#include "client/lib/session/loan.h"
#include "client/lib/io/loans.h"
#include "client/lib/io/plan.h"
#include "client/lib/session/client_session.h"

/*
 * Returns the loan of the file's object at server k, if the client has one that was not
 * revoked.  May ask the iod for a loan and wait.  NULL: the caller must transfer by message.
 * write: the loan is for writing, too.
 */
const struct loan *loans_get(struct loans *loans, struct session *s,
			     uint64_t handle, const struct dist *dist,
			     uint32_t k, bool write);

/*
 * Executes the plan at the servers whose objects this process has borrowed.  Sets done[k], for
 * k < plan->dist->pcount, if the share of server k is complete; the caller transfers the other
 * shares by message.  Returns true if all shares are complete.  Sets *begun if something was
 * written.
 */
bool direct_run(struct session *s, uint64_t handle, const struct io_plan *plan,
		bool write, bool *done, bool *begun);

#endif
