/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * op_outcome.c - OUTCOME: whether a change of this session has reached the copyset.  Another iod,
 * which was primary then, got the change and has not answered.
 *
 * The dispatcher has checked that this iod serves the copyset now, so no order of an earlier primary
 * is executed any more.
 */
#include "common/util/clock.h"
#include "server/once/change_records.h"
#include "server/op/op_int.h"

_Static_assert((unsigned int)CHANGE_UNKNOWN == WIRE_OC_UNKNOWN &&
		       (unsigned int)CHANGE_PART == WIRE_OC_PART &&
		       (unsigned int)CHANGE_DONE == WIRE_OC_DONE,
	       "outcomes");

void op_outcome(struct worker *w, struct rpc_req *req)
{
	const struct wire_outcome *body = req->msg.body;
	const struct change_id id = { .session = session_of(req)->id,
				      .origin = le32toh(body->origin),
				      .slot = le32toh(body->slot),
				      .seq = le64toh(body->seq) };
	struct wire_outcome_rep rep = { 0 };
	enum change_outcome outcome;
	uint64_t done;
	int rc = change_records_find(w->iod->change_records, &id, clock_boot(),
				     &outcome, &done);

	if (rc) {
		rpc_reply_status(req, rc);
		return;
	}
	rep.state = htole32(outcome);
	rep.done = htole64(done);
	op_reply(req, &rep, sizeof(rep), NULL, 0, RPC_REEXECUTE);
}
