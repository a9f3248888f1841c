/* SPDX-License-Identifier: BSD-2-Clause */
/* commit.c - the end of a transaction: a reply, or removals, may follow it. */
#include "mgr/state/mgr_state.h"

#define LATE_MS 2 /* time that a late item waits for others to flush with */

static int commit(struct mgr *mgr)
{
	uint64_t removed = mgr->ns.removed;
	bool changed = store_changed(mgr->st);
	int rc;

	rc = ns_commit(&mgr->ns);
	if (rc)
		return rc;
	if (changed)
		checkpointer_wake(mgr->cp);
	if (removed)
		mgr->remove_id = removed;
	return 0;
}

int mgr_commit(struct mgr *mgr, struct flusher_item *item)
{
	int rc = commit(mgr);

	if (!rc && item)
		flusher_add(mgr->fl, item);
	return rc;
}

static void late_enough(struct rpc_timer *timer)
{
	struct mgr *mgr = container_of(timer, struct mgr, late);

	mgr->late_set = false;
	flusher_release_late(mgr->fl);
}

int mgr_commit_late(struct mgr *mgr, struct flusher_item *item)
{
	int rc = commit(mgr);

	if (rc)
		return rc;
	flusher_add_late(mgr->fl, item);
	if (mgr->late_set)
		return 0;
	mgr->late_set = true;
	mgr->late.fire = late_enough;
	rpc_timer_set(mgr->ctx, &mgr->late, clock_after_ms(LATE_MS));
	return 0;
}

bool mgr_submit(struct mgr *mgr)
{
	struct durable_mark *mark = &mgr->mark;

	if (mgr->remove_id > mark->id && !mark->inside) {
		mark->id = mgr->remove_id;
		mark->inside = true;
		flusher_add(mgr->fl, &mark->item);
	}
	return flusher_submit(mgr->fl);
}

struct ns_op mgr_own_op(struct mgr *mgr)
{
	static const struct ns_cred self = { 0 };

	return (struct ns_op){ .ns = &mgr->ns,
			       .cred = &self,
			       .now = clock_wall() };
}
