/* SPDX-License-Identifier: BSD-2-Clause */
/* group.c - see group.h. */
#include "mgr/group/group.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/util/clock.h"
#include "common/util/container.h"
#include "common/util/random_id.h"

/* A leader that is silent is replaced after 1 to 2 times this. */
#define ELECTION_MS 600u
#define HEARTBEAT_MS 100u
#define TICK_MS (HEARTBEAT_MS / 3)
#define LOG_LIMIT (UINT64_C(256) << 20)
#define CHECKPOINT_BYTES                                                       \
	(UINT64_C(16) << 20) /* a restart reads about as much */
#define TRAILING_BYTES (UINT64_C(8) << 20)

struct mgr_group {
	struct group_attr attr;
	struct raft_disk disk;
	bool disk_open;
	struct raft_member *member; /* NULL: not started */
	struct rpc_timer tick;
	atomic_bool stored; /* the log thread has something for us */
	bool unrecorded; /* the store has noted entries that are not in its rows */
	enum group_state state;
	bool failed; /* only member_abandon() may be called */
	uint64_t term;
	/* an entry of the store that the member has not taken yet; len 0: none */
	struct {
		const void *bytes;
		size_t len;
		int refused; /* why, which is logged; or 0 */
	} entry;
	/* A checkpoint that the member has asked for. */
	struct {
		bool due; /* not begun */
		bool busy;
		uint64_t index; /* the store must be durable up to here */
	} checkpoint;
};

/* ---- the end ---- */

static void end_group(struct mgr_group *g, const char *why)
{
	if (g->state == GROUP_ENDED)
		return;
	g->state = GROUP_ENDED;
	log_error(g->attr.log, "%s; this manager ends", why);
}

static bool is_over(const struct mgr_group *g)
{
	return g->state == GROUP_LOST || g->state == GROUP_ENDED;
}

static void on_leader_lost(void *arg, const char *why)
{
	struct mgr_group *g = arg;

	if (is_over(g))
		return;
	g->state = GROUP_LOST;
	log_info(g->attr.log, "this manager does not lead any more: %s", why);
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

/* The managers do not send their stores yet. */
static void on_fill(void *arg, uint64_t from, uint64_t index, uint64_t term)
{
	end_group(arg, "this manager lacks entries that the others have "
		       "deleted: its storage must be made anew");
}

/* ---- checkpoints: the log of the group is deleted up to what the store has on disk ---- */

static void on_checkpoint(void *arg, uint64_t index)
{
	struct mgr_group *g = arg;

	g->checkpoint.due = true;
}

/* All entries that the member has applied are in the store, some of them without changes. */
static int begin_checkpoint(struct mgr_group *g)
{
	struct store_applied applied;
	int rc = store_record_committed(g->attr.st);

	if (!rc)
		rc = store_get_applied(g->attr.st, &applied);
	if (rc)
		return rc;
	g->checkpoint.index = applied.index;
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

/* 0: the member has it, or will never take it. */
static int propose_entry(struct mgr_group *g)
{
	int rc = member_propose(g->member, g->entry.bytes, g->entry.len, NULL,
				NULL);

	if (rc == -EAGAIN || rc == -ENOMEM || rc == -ENOSPC) {
		if (rc != -EAGAIN && rc != g->entry.refused)
			log_error(g->attr.log,
				  "changes wait for the log of the managers: "
				  "%s",
				  strerror(-rc));
		g->entry.refused = rc;
		return rc;
	}
	g->entry.len = 0;
	g->entry.refused = 0;
	if (rc && rc != -ENOTCONN)
		end_group(g, "an entry does not fit the log of the managers");
	return 0;
}

static void propose_entries(void *arg)
{
	struct mgr_group *g = arg;

	while (g->state == GROUP_LEADS &&
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
}

void mgr_group_receive(struct mgr_group *g, const void *data, size_t len)
{
	if (!is_over(g))
		member_receive(g->member, data, len);
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

/* Also proposes changes that nobody waits for. */
static void on_tick(struct rpc_timer *timer)
{
	struct mgr_group *g = container_of(timer, struct mgr_group, tick);

	if (is_over(g))
		return;
	rpc_timer_set(g->attr.ctx, timer, clock_after_ms(TICK_MS));
	member_tick(g->member);
	propose_entries(g);
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

/* The name of the folder is durable. */
static int sync_parent(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc = fd < 0 || fsync(fd) ? -errno : 0;

	if (fd >= 0)
		close(fd);
	return rc;
}

static int open_folder(struct mgr_group *g)
{
	char path[PATH_MAX + sizeof("/raft")];
	int rc = 0;

	snprintf(path, sizeof(path), "%s/raft", g->attr.storage);
	if (!mkdir(path, 0700))
		rc = sync_parent(g->attr.storage);
	else if (errno != EEXIST)
		rc = -errno;
	if (!rc)
		rc = folder_disk_open(path, &g->disk);
	if (rc)
		log_error(g->attr.log, "cannot open %s: %s", path,
			  strerror(-rc));
	g->disk_open = !rc;
	return rc;
}

static struct member_attr member_attr_of(struct mgr_group *g, uint64_t applied)
{
	return (struct member_attr){
		.id = g->attr.id,
		.group = g->attr.fsid,
		.disk = g->disk,
		.clock = { g, get_time, get_random },
		.peers = g->attr.peers,
		.log_thread = { .arg = g, .wake = on_stored },
		.callbacks = { .arg = g,
			       .apply = on_apply,
			       .leader_gained = on_leader_gained,
			       .leader_lost = on_leader_lost,
			       .failed = on_failed,
			       .checkpoint = on_checkpoint,
			       .fill = on_fill },
		.applied = applied,
		.election_ms = ELECTION_MS,
		.heartbeat_ms = HEARTBEAT_MS,
		.log_limit = LOG_LIMIT,
		.checkpoint_bytes = CHECKPOINT_BYTES,
		.trailing_bytes = TRAILING_BYTES,
		.log = g->attr.log,
	};
}

/* The log may begin after entries that only the database had. */
static int check_database(struct mgr_group *g, uint64_t applied)
{
	struct member_status status;

	member_get_status(g->member, &status);
	return status.snapshot && !applied ? -EIO : 0;
}

static int start_member(struct mgr_group *g)
{
	struct store_applied applied;
	struct member_attr attr;
	bool exists;
	int rc = store_get_applied(g->attr.st, &applied);

	if (rc)
		return rc;
	attr = member_attr_of(g, applied.index);
	rc = member_exists(&g->disk, &exists);
	if (!rc && !exists)
		rc = member_create(&attr, g->attr.voters, g->attr.n);
	if (!rc)
		rc = member_start(&attr, &g->member);
	return rc ? rc : check_database(g, applied.index);
}

static int join_group(struct mgr_group *g)
{
	int rc = start_member(g);

	if (rc)
		log_error(g->attr.log,
			  "cannot join the managers with the folders raft and "
			  "db in %s: %s",
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
	g->tick.fire = on_tick;
	rc = open_folder(g);
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
		folder_disk_close(&g->disk);
	free(g);
}
