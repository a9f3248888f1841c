/* SPDX-License-Identifier: BSD-2-Clause */
/* direct_int.h - transfers that this process does itself. */
#ifndef DIRECT_INT_H
#define DIRECT_INT_H

#include "client/lib/session/loan.h"
#include "client/lib/io/loans.h"
#include "client/lib/io/plan.h"
#include "client/lib/session/client_session.h"

/*
 * Returns a valid loan of the file's object on its k-th server (an index into dist, not the
 * number of an iod).  If the client has none, asks the iod for one and waits, unless another
 * thread is asking or it is too early to ask.  NULL: no loan; the caller must send requests.
 * write: the loan must permit writing.  The loan exists until loans_close(), even if the iod
 * revokes it.
 */
const struct loan *loans_get(struct loans *loans, struct session *s,
			     uint64_t handle, const struct dist *dist,
			     uint32_t k, bool write);

/*
 * Executes the parts of the plan for which this process has borrowed the object.  Sets done[k],
 * for k < plan->dist->pcount, if the part of the file's k-th server is complete; the caller
 * transfers the other parts by requests.  Returns true if all parts are complete.  Sets *begun
 * if data was written.
 */
bool direct_run(struct session *s, uint64_t handle, const struct io_plan *plan,
		bool write, bool *done, bool *begun);

#endif
