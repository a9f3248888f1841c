/* SPDX-License-Identifier: BSD-2-Clause */
/* direct_int.h - transfers that this process does itself. */
#ifndef DIRECT_INT_H
#define DIRECT_INT_H

#include "client/lib/session/loan.h"
#include "client/lib/io/loans.h"
#include "client/lib/io/plan.h"
#include "client/lib/session/client_session.h"

/*
 * Returns the object at server k of the file, if it is borrowed and not revoked.  May ask
 * the iod for it and wait.  NULL: transfer by message.
 */
const struct loan *loans_get(struct loans *loans, struct session *s,
			     uint64_t handle, const struct dist *dist,
			     uint32_t k, bool write);

/*
 * Executes the plan at the servers whose objects are borrowed.  Sets done[k], of
 * plan->dist->pcount elements, if nothing is left to do at server k.  True: nothing is
 * left at any server.  Sets *begun if something was written.
 */
bool direct_run(struct session *s, uint64_t handle, const struct io_plan *plan,
		bool write, bool *done, bool *begun);

#endif
