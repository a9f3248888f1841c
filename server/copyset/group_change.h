/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * group_change.h - a change of an object that several iods store, at the primary:
 *
 *	range lock | gate | orders to the other members | change here | end
 *
 * The primary makes the change last (docs/copies.md, invariant V).  So its object never has bytes
 * that another member lacks, and a change that fails at a member leaves it as it was.
 *
 * If a change may have been made at some members only, changes of the copyset stop until the
 * managers assign new members.
 */
#ifndef GROUP_CHANGE_H
#define GROUP_CHANGE_H

#include <semaphore.h>

#include "server/copyset/order_sender.h"
#include "server/copyset/range_lock.h"

struct group_change {
	/* the caller sets these */
	/* range of the change, bytes; from == end: no lock and no gate */
	uint64_t from, end;
	/*
	 * For group_change_start().  status 0: all other members have made the change, and the caller
	 * makes it.  Called once, on the worker's thread, possibly by group_change_start(), unless
	 * the iod stops.
	 */
	void (*ready)(struct group_change *c, int status);
	void *arg;
	void *copy; /* freed at the end, or NULL */
	/* private */
	struct worker *worker;
	struct iod_session *ses;
	const struct rpc_req *req;
	struct store_obj *obj;
	struct order_sender sender;
	struct range_lock lock;
	bool locked, entered;
	struct gate_entry entry;
	sem_t over; /* ready: of group_change_wait() */
	int status;
	struct mailbox_item mail;
	LIST_ENTRY(group_change) link;
};

/*
 * Allocates a change of the copyset that req names, which is in progress from then on
 * (copyset_enter()).  -ENOMEM; errors of copyset_enter_targets().
 */
int group_change_create(struct iod_session *ses, const struct rpc_req *req,
			struct store_obj *obj, struct group_change **out);
/* On the worker's thread.  If status is an error, only calls ready(). */
void group_change_start(struct group_change *c,
			const struct ordered_change *change, int status);
/*
 * On a thread of the pool: sleeps until all other members have made the change.  0: the caller makes
 * it.  -ESHUTDOWN: the iod stops, and the change must not be ended.
 */
int group_change_wait(struct group_change *c,
		      const struct ordered_change *change);
/*
 * Ends the change, after ready() or group_change_wait(), and frees it.  status: of these, or of the
 * change here.  The first one is for the worker's thread, and the second one for the pool.
 */
void group_change_end(struct group_change *c, int status);
void group_change_end_in_pool(struct group_change *c, int status);
/* At the end of the iod: frees the changes in progress. */
void group_changes_free(struct worker *w);

#endif
