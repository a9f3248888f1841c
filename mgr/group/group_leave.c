/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * group_leave.c - the only member of a group becomes a manager without one.
 *
 * 	raft       entries that the database may lack are applied, durably
 * 	raft.left  the database is taken out of the group; then the folder is removed
 *
 * Each step can be repeated after a crash.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/util/clock.h"
#include "mgr/group/group_int.h"

#define ELECTION_MS 100u
#define STALL_MS 60000u /* without progress */
#define TURN_US 1000u
#define PATH_SIZE (PATH_MAX + sizeof("/raft.left"))

struct leaving {
	struct store *st;
	const struct log *log;
	bool leads, failed;
	uint64_t end; /* clock_now() */
};

/* ---- a member without others ---- */

static uint64_t get_time(void *arg)
{
	return clock_boot();
}

static int get_random(void *arg, int min, int max)
{
	return min;
}

static int send_nothing(void *arg, uint64_t to, const void *data, size_t len)
{
	return -ENOTCONN;
}

/* Each turn of the loop writes and collects. */
static void ignore_work(void *arg)
{
}

static int apply_entry(void *arg, const struct member_entry *entry)
{
	struct leaving *l = arg;

	l->end = clock_after_ms(STALL_MS);
	return store_apply(l->st, entry->index, entry->term, entry->data,
			   entry->len);
}

static void on_leads(void *arg, uint64_t term)
{
	struct leaving *l = arg;

	l->leads = true;
}

static void on_failed(void *arg, const char *why)
{
	struct leaving *l = arg;

	l->failed = true;
	log_error(l->log, "the log of the managers failed: %s", why);
}

static void ignore_checkpoint(void *arg, uint64_t index, uint64_t term)
{
}

static void refuse_fill(void *arg, uint64_t from, uint64_t index, uint64_t term)
{
	on_failed(arg, "the database lacks entries");
}

static struct member_attr leaving_attr(struct leaving *l,
				       const struct disk_folder *disk)
{
	return (struct member_attr){
		.disk = *disk,
		.clock = { l, get_time, get_random },
		.peers = { l, send_nothing },
		.log_thread = { .arg = l,
				.wake = ignore_work,
				.submitted = ignore_work },
		.callbacks = { .arg = l,
			       .apply = apply_entry,
			       .leader_gained = on_leads,
			       .leader_lost = on_failed,
			       .restart = on_failed,
			       .failed = on_failed,
			       .checkpoint = ignore_checkpoint,
			       .fill = refuse_fill },
		.election_ms = ELECTION_MS,
		.heartbeat_ms = ELECTION_MS / 4,
		.log_limit = GROUP_LOG_LIMIT,
		.checkpoint_bytes = GROUP_LOG_LIMIT,
		.trailing_bytes = GROUP_LOG_LIMIT / 4,
		.log = l->log,
	};
}

/* ---- all entries into the database ---- */

static int check_alone(const struct leaving *l, struct raft_member *m,
		       const char *storage)
{
	struct member_status s;

	member_get_status(m, &s);
	if (s.n == 1 && s.peers[0].voter && s.role == MEMBER_LEADER)
		return 0;
	log_error(l->log,
		  "storage %s is that of one of %u managers: start it as one of "
		  "them, with [mgr.N] in the configuration, and take the "
		  "others out of the group first (pvfs-managers remove)",
		  storage, s.n);
	return -EPERM;
}

static int apply_log(struct leaving *l, struct raft_member *m)
{
	int rc;

	l->end = clock_after_ms(STALL_MS);
	while (!l->leads && !l->failed && clock_now() < l->end) {
		member_write_log(m);
		member_collect(m);
		if (!l->failed)
			member_tick(m);
		usleep(TURN_US);
	}
	if (!l->leads || l->failed)
		return l->failed ? -EIO : -ETIMEDOUT;
	rc = store_record_committed(l->st);
	return rc ? rc : store_checkpoint(l->st, 0);
}

/* A member without a log was never added to its group. */
static int run_member(struct leaving *l, const struct disk_folder *disk,
		      const char *storage)
{
	struct member_attr attr = leaving_attr(l, disk);
	struct store_applied applied;
	struct member_status status;
	struct raft_member *m;
	int rc = store_get_applied(l->st, &applied);

	if (!rc)
		rc = member_identity(disk, &attr.group, &attr.id);
	attr.applied = applied.index;
	if (!rc)
		rc = member_start(&attr, &m);
	if (rc)
		return rc;
	member_get_status(m, &status);
	if (status.n || status.last || applied.index > 1) {
		rc = check_alone(l, m, storage);
		if (!rc && status.snapshot > applied.index)
			rc = -EIO;
		if (!rc)
			rc = apply_log(l, m);
	}
	if (l->failed)
		member_abandon(m);
	else
		member_stop(m);
	return rc;
}

static int apply_entries(const struct store_attr *attr,
			 const struct disk_folder *disk)
{
	struct store_attr replicated = *attr;
	struct leaving l = { .log = attr->log };
	int rc;

	replicated.replicated = true;
	rc = store_open(&replicated, &l.st);
	if (rc)
		return rc;
	rc = run_member(&l, disk, attr->dir);
	store_close(l.st);
	return rc;
}

/* ---- the folders ---- */

/*
 * Applies all entries in the folder `raft` to the database, and renames the folder to `left`. If
 * the folder contains no member, its creation was interrupted: then changes nothing.
 */
static int leave_folder(const struct store_attr *attr, const char *raft,
			const char *left)
{
	struct disk_folder disk;
	bool exists = false;
	int rc;

	if (access(raft, F_OK))
		return errno == ENOENT ? 0 : -errno;
	rc = group_open_folder(attr->dir, attr->log, &disk);
	if (rc)
		return rc;
	rc = member_exists(&disk, &exists);
	if (!rc && exists)
		rc = apply_entries(attr, &disk);
	disk_folder_close(&disk);
	if (!rc && exists && rename(raft, left))
		rc = -errno;
	return rc || !exists ? rc : group_sync_storage(attr->dir);
}

static void remove_file(void *disk, const char *name)
{
	if (name[0] != '.')
		disk_folder_remove(disk, name);
}

static int remove_left(const char *storage, const char *left)
{
	struct disk_folder disk;
	int rc = disk_folder_open(left, &disk);

	if (rc)
		return rc;
	rc = disk_folder_list(&disk, remove_file, &disk);
	disk_folder_close(&disk);
	if (!rc && rmdir(left))
		rc = -errno;
	return rc ? rc : group_sync_storage(storage);
}

static int finish_leaving(const struct store_attr *attr, const char *left)
{
	struct store_attr alone = *attr;
	struct store *st;
	int rc;

	if (access(left, F_OK))
		return errno == ENOENT ? 0 : -errno;
	alone.leave_group = true;
	rc = store_open(&alone, &st);
	if (rc)
		return rc;
	rc = store_checkpoint(st, 0);
	store_close(st);
	if (!rc)
		rc = remove_left(attr->dir, left);
	if (!rc)
		log_info(attr->log, "%s is the database of one manager now",
			 attr->dir);
	return rc;
}

int mgr_group_leave(const char *storage, uint64_t cache_size,
		    const struct log *log, bool leaves)
{
	const struct store_attr attr = { .dir = storage,
					 .cache_size = cache_size,
					 .log = log };
	char raft[PATH_SIZE], left[PATH_SIZE];
	int rc;

	snprintf(raft, sizeof(raft), "%s/raft", storage);
	snprintf(left, sizeof(left), "%s/raft.left", storage);
	rc = leaves ? leave_folder(&attr, raft, left) : 0;
	if (!rc)
		rc = finish_leaving(&attr, left);
	if (rc && rc != -EPERM)
		log_error(log, "cannot take %s out of its group: %s", storage,
			  strerror(-rc));
	return rc;
}
