/* SPDX-License-Identifier: BSD-2-Clause */
/* direct_int.h - transfers that this process makes itself. */
#ifndef DIRECT_INT_H
#define DIRECT_INT_H

#include "client/lib/session/lender.h"
#include "client/lib/io/loans.h"
#include "client/lib/io/plan.h"
#include "client/lib/session/session.h"

/*
 * The object at server k of the file, if it is borrowed and not taken back; it may be asked
 * for, which waits for the iod.  NULL: by message.
 */
const struct loan *loans_get(struct loans *loans, struct session *s,
			     uint64_t handle, const struct dist *dist,
			     uint32_t k, bool write);

/*
 * The plan at those servers whose objects are borrowed.  done[k], one of
 * plan->dist->pcount: nothing is left to do at that one.  True: so at all of them.
 * *begun: something was written.
 */
bool direct_run(struct session *s, uint64_t handle, const struct plan *plan,
		bool write, bool *done, bool *begun);

#endif
