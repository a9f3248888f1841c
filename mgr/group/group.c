/* SPDX-License-Identifier: BSD-2-Clause */
/* group.c - see group.h. */
#include "mgr/group/group_int.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/clock.h"
#include "common/util/container.h"
#include "common/util/random_id.h"

#define HEARTBEAT_MS 100u
#define TICK_MS (HEARTBEAT_MS / 3)
#define CHECKPOINT_BYTES                                                       \
	(UINT64_C(16) << 20) /* a restart reads about as much */
#define TRAILING_BYTES (UINT64_C(8) << 20)
#define FULL_MS 1000u /* until a leader with a full disk hands over */
/*
 * A slow checkpoint lets the log grow.  While the log is above half of its limit, each tick
 * admits changes for 1/TICKS_LEFT of the remaining space.  So changes become slow, but do not
 * stop.
 */
#define TICKS_LEFT 8192u

/* ---- the end ---- */

static void end_group(struct mgr_group *g, const char *why)
{
	if (g->state == GROUP_ENDED)
		return;
	g->state = GROUP_ENDED;
	log_error(g->attr.log, "%s; this manager ends", why);
}

void mgr_group_end(struct mgr_group *g, const char *why)
{
	end_group(g, why);
}

static bool is_over(const struct mgr_group *g)
{
	return g->state == GROUP_LOST || g->state == GROUP_ENDED;
}

static void lose_group(struct mgr_group *g)
{
	if (!is_over(g))
		g->state = GROUP_LOST;
}

static void on_leader_lost(void *arg, const char *why)
{
	struct mgr_group *g = arg;

	if (is_over(g))
		return;
	g->state = GROUP_LOST;
	log_info(g->attr.log, "this manager does not lead any more: %s", why);
}

static void on_restart(void *arg, const char *why)
{
	struct mgr_group *g = arg;

	if (!is_over(g))
		log_info(g->attr.log, "this manager starts again: %s", why);
	lose_group(g);
}

static void on_failed(void *arg, const char *why)
{
	struct mgr_group *g = arg;
	char text[512];

	g->failed = true;
	snprintf(text, sizeof(text), "the log of the managers failed: %s", why);
	end_group(g, text);
}

/* ---- committed entries ---- */

static int on_apply(void *arg, const struct member_entry *entry)
{
	struct mgr_group *g = arg;

	if (g->filled)
		return 0; /* the next start applies it to the other store */
	checkpointer_wake(g->attr.cp);
	if (!entry->own)
		return store_apply(g->attr.st, entry->index, entry->term,
				   entry->data, entry->len);
	g->unrecorded = true;
	return store_note_own_entry(g->attr.st, entry->index, entry->term,
				    entry->data, entry->len);
}

static void on_leader_gained(void *arg, uint64_t term)
{
	struct mgr_group *g = arg;

	if (is_over(g))
		return;
	g->term = term;
	g->state = GROUP_ELECTED;
}

static void on_fill(void *arg, uint64_t from, uint64_t index, uint64_t term)
{
	struct mgr_group *g = arg;

	if (g->attr.fill)
		g->attr.fill(g->attr.arg, from, index);
	else
		end_group(g, "this manager lacks entries that the others have "
			     "deleted from their logs: run pvfs-managers "
			     "replace, and start it with an empty storage");
}

void mgr_group_give_up(struct mgr_group *g, const char *why)
{
	if (!is_over(g))
		log_info(g->attr.log, "%s", why);
	lose_group(g);
}

void mgr_group_note_filled(struct mgr_group *g, uint64_t index)
{
	if (is_over(g))
		return;
	g->filled = index;
	member_filled(g->member, 0, index);
}

/* Ends the group when the log records that the second store of this member counts. */
static void end_fill(struct mgr_group *g)
{
	struct member_status status;

	if (!g->filled)
		return;
	member_get_status(g->member, &status);
	if (status.snapshot >= g->filled)
		lose_group(g);
}

/* ---- checkpoints: the log of the group is deleted up to what the store has on disk ---- */

static void on_checkpoint(void *arg, uint64_t index, uint64_t term)
{
	struct mgr_group *g = arg;

	g->checkpoint.due = !g->filled;
	g->checkpoint.index = index;
	g->checkpoint.term = term;
}

/*
 * The store has all entries with changes up to the index, and must record that: the log will begin
 * after it.
 */
static int begin_checkpoint(struct mgr_group *g)
{
	struct store *st = g->attr.st;
	int rc = store_note_committed(st, g->checkpoint.index,
				      g->checkpoint.term);

	if (!rc || rc == -EALREADY)
		rc = store_record_committed(st);
	if (rc)
		return rc;
	g->checkpoint.busy = true;
	checkpointer_hurry(g->attr.cp);
	return 0;
}

static void continue_checkpoint(struct mgr_group *g)
{
	int rc = 0;

	if (g->checkpoint.due)
		rc = begin_checkpoint(g);
	g->checkpoint.due = false;
	if (!rc && (!g->checkpoint.busy ||
		    store_durable_index(g->attr.st) < g->checkpoint.index))
		return;
	g->checkpoint.busy = false;
	member_checkpointed(g->member, rc);
}

/* ---- entries of the leader ---- */

/*
 * Submits the pending entry g->entry to the member.  0: the entry is no longer pending: the member
 * has it, or will never accept it. -EAGAIN, -ENOMEM, -ENOSPC: try again later.
 */
static int propose_entry(struct mgr_group *g)
{
	int rc = member_propose(g->member, g->entry.bytes, g->entry.len, NULL,
				NULL);

	if (rc == -EAGAIN || rc == -ENOMEM || rc == -ENOSPC) {
		if (rc != -EAGAIN && rc != g->entry.refused)
			log_error(g->attr.log,
				  "changes wait, because the log of the "
				  "managers accepts no entry: %s%s",
				  strerror(-rc),
				  rc == -ENOSPC ? "; free space in the storage"
						: "");
		if (rc != g->entry.refused)
			g->entry.refused_at = clock_now();
		g->entry.refused = rc;
		return rc;
	}
	g->budget -= (int64_t)g->entry.len;
	g->entry.len = 0;
	g->entry.refused = 0;
	if (rc && rc != -ENOTCONN)
		end_group(g,
			  "an entry is too large for the log of the managers");
	return 0;
}

static void propose_entries(void *arg)
{
	struct mgr_group *g = arg;

	while (g->state == GROUP_LEADS && g->budget > 0 &&
	       (g->entry.len ||
		!store_next_entry(g->attr.st, &g->entry.bytes, &g->entry.len)))
		if (propose_entry(g))
			return;
}

static bool has_lease(void *arg)
{
	const struct mgr_group *g = arg;

	return g->state == GROUP_LEADS && member_lease_valid(g->member);
}

static void collect_stored(void *arg)
{
	mgr_group_collect(arg);
}

static int wait_until_committed(void *arg)
{
	struct mgr_group *g = arg;
	uint64_t change = store_last_change(g->attr.st);

	while (g->state == GROUP_LEADS && !store_failed(g->attr.st)) {
		if (store_is_committed(g->attr.st, change))
			return 0;
		if (g->attr.goes_on && !g->attr.goes_on(g->attr.arg))
			return -ECANCELED;
		propose_entries(g);
		rpc_ctx_progress(g->attr.ctx, clock_after_ms(TICK_MS));
		mgr_group_collect(g);
	}
	return store_failed(g->attr.st) ? -EIO : -ENOTCONN;
}

struct managers_log mgr_group_log(struct mgr_group *g)
{
	return (struct managers_log){ .arg = g,
				      .propose = propose_entries,
				      .collect = collect_stored,
				      .leads = has_lease,
				      .wait = wait_until_committed };
}

int mgr_group_lead(struct mgr_group *g)
{
	int rc = store_lead(g->attr.st);

	if (rc)
		return rc;
	g->state = GROUP_LEADS;
	return wait_until_committed(g);
}

int mgr_group_hand_over(struct mgr_group *g)
{
	return g->state == GROUP_LEADS ? member_transfer(g->member, 0)
				       : -ENOTCONN;
}

/* ---- events ---- */

void mgr_group_collect(struct mgr_group *g)
{
	if (atomic_exchange(&g->stored, false) && !is_over(g))
		member_collect(g->member);
	if (is_over(g))
		return;
	if (g->entry.len)
		propose_entries(g);
	if (!is_over(g))
		continue_checkpoint(g);
	if (!is_over(g))
		end_fill(g);
}

bool mgr_group_receive(struct mgr_group *g, const void *data, size_t len)
{
	return !is_over(g) && member_receive(g->member, data, len);
}

static void on_stored(void *arg)
{
	struct mgr_group *g = arg;

	atomic_store(&g->stored, true);
	rpc_ctx_wake(g->attr.ctx);
}

/* While the store is idle, no transaction does it. */
static void record_committed(struct mgr_group *g)
{
	struct store *st = g->attr.st;

	if (!g->unrecorded || store_failed(st) ||
	    !store_is_committed(st, store_last_change(st)))
		return;
	g->unrecorded = false;
	store_record_committed(st);
}

static void refill_budget(struct mgr_group *g)
{
	struct member_status status;
	int64_t share;

	member_get_status(g->member, &status);
	if (status.log_bytes < status.log_limit / 2) {
		g->budget = INT64_MAX;
		return;
	}
	share = status.log_bytes < status.log_limit
			? (int64_t)((status.log_limit - status.log_bytes) /
				    TICKS_LEFT)
			: 0;
	g->budget = g->budget < 0 ? g->budget + share : share;
}

static bool another_may_lead(const struct mgr_group *g,
			     const struct member_status *status)
{
	for (unsigned int i = 0; i < status->n; i++)
		if (status->peers[i].id != g->attr.id &&
		    status->peers[i].voter && status->peers[i].recent)
			return true;
	return false;
}

/*
 * Another manager may have space on its disk.  Each new leader uses some of the reserve, so
 * managers that are all full do not hand over for ever.
 */
static void leave_full_disk(struct mgr_group *g)
{
	struct member_status status;

	if (g->state != GROUP_LEADS || g->entry.refused != -ENOSPC ||
	    clock_now() - g->entry.refused_at < FULL_MS * CLOCK_NS_PER_MS)
		return;
	member_get_status(g->member, &status);
	if (status.log_full && status.has_reserve &&
	    another_may_lead(g, &status) && !member_transfer(g->member, 0))
		log_info(g->attr.log, "another manager shall lead, because the "
				      "disk of this one is full");
}

/* Also proposes changes for which no request waits. */
static void on_tick(struct rpc_timer *timer)
{
	struct mgr_group *g = container_of(timer, struct mgr_group, tick);

	if (is_over(g))
		return;
	rpc_timer_set(g->attr.ctx, timer, clock_after_ms(TICK_MS));
	member_tick(g->member);
	if (!is_over(g))
		refill_budget(g);
	propose_entries(g);
	if (!is_over(g))
		leave_full_disk(g);
	if (!is_over(g))
		record_committed(g);
}

enum group_state mgr_group_state(const struct mgr_group *g)
{
	return g->state;
}

uint64_t mgr_group_term(const struct mgr_group *g)
{
	return g->term;
}

uint64_t mgr_group_id(const struct mgr_group *g)
{
	return g->attr.id;
}

uint64_t mgr_group_number(const struct mgr_group *g)
{
	return g->attr.group;
}

void mgr_group_get_status(struct mgr_group *g, struct member_status *status)
{
	member_get_status(g->member, status);
}

/* ---- open and close ---- */

static uint64_t get_time(void *arg)
{
	return clock_boot();
}

static int get_random(void *arg, int min, int max)
{
	uint64_t n = 0;

	random_id(&n);
	return min + (int)(n % ((uint64_t)(max - min) + 1));
}

static struct member_attr member_attr_of(struct mgr_group *g, uint64_t applied)
{
	return (struct member_attr){
		.id = g->attr.id,
		.group = g->attr.group,
		.disk = g->disk,
		.clock = { g, get_time, get_random },
		.peers = g->attr.peers,
		.log_thread = { .arg = g, .wake = on_stored },
		.callbacks = { .arg = g,
			       .apply = on_apply,
			       .leader_gained = on_leader_gained,
			       .leader_lost = on_leader_lost,
			       .restart = on_restart,
			       .failed = on_failed,
			       .checkpoint = on_checkpoint,
			       .fill = on_fill },
		.applied = applied,
		.election_ms = GROUP_ELECTION_MS,
		.heartbeat_ms = HEARTBEAT_MS,
		.log_limit = g->attr.log_limit,
		.checkpoint_bytes = CHECKPOINT_BYTES,
		.trailing_bytes = TRAILING_BYTES,
		.log = g->attr.log,
	};
}

/*
 * Checks whether the log and the database belong together.  The log may begin after entries that
 * the database has lost.  An empty log has lost the entries that the database has.
 */
static int check_database(struct mgr_group *g, uint64_t applied)
{
	struct member_status status;

	member_get_status(g->member, &status);
	return status.snapshot > applied || (applied && !status.last) ? -EIO
								      : 0;
}

static int create_member(struct mgr_group *g, struct store_applied *applied)
{
	struct member_attr attr;
	int rc = g->attr.founds ? group_record_first(g->attr.st, applied) : 0;

	if (rc)
		return rc;
	attr = member_attr_of(g, applied->index);
	return g->attr.founds ? member_found(&attr, g->attr.voters)
			      : member_create(&attr, g->attr.voters, g->attr.n);
}

static int start_member(struct mgr_group *g)
{
	struct store_applied applied;
	struct member_attr attr;
	bool exists;
	int rc = store_get_applied(g->attr.st, &applied);

	if (rc)
		return rc;
	rc = member_exists(&g->disk, &exists);
	if (!rc && !exists)
		rc = create_member(g, &applied);
	attr = member_attr_of(g, applied.index);
	if (!rc)
		rc = member_start(&attr, &g->member);
	return rc ? rc : check_database(g, applied.index);
}

static int join_group(struct mgr_group *g)
{
	int rc = start_member(g);

	if (rc)
		log_error(g->attr.log,
			  "cannot start as a member of the group with the "
			  "folders raft and db in %s: %s",
			  g->attr.storage, strerror(-rc));
	return rc;
}

int mgr_group_open(const struct group_attr *attr, struct mgr_group **out)
{
	struct mgr_group *g = calloc(1, sizeof(*g));
	int rc;

	if (!g)
		return -ENOMEM;
	g->attr = *attr;
	if (!g->attr.log_limit)
		g->attr.log_limit = GROUP_LOG_LIMIT;
	g->tick.fire = on_tick;
	g->budget = INT64_MAX;
	rc = group_open_folder(g->attr.storage, g->attr.log, &g->disk);
	g->disk_open = !rc;
	if (!rc)
		rc = join_group(g);
	if (rc) {
		mgr_group_close(g);
		return rc;
	}
	rpc_timer_set(g->attr.ctx, &g->tick, clock_after_ms(TICK_MS));
	*out = g;
	return 0;
}

void mgr_group_close(struct mgr_group *g)
{
	if (!g)
		return;
	rpc_timer_clear(g->attr.ctx, &g->tick);
	if (g->member && g->failed)
		member_abandon(g->member);
	else if (g->member)
		member_stop(g->member);
	if (g->disk_open)
		disk_folder_close(&g->disk);
	free(g);
}
