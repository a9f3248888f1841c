/* SPDX-License-Identifier: BSD-2-Clause */
/* intent_epoch.c - epochs of the intent log, and the file with the entries that still count. */
#include "server/copyset/intent_log_int.h"

#define STEP 128u /* blocks that are visited without a pause for others */

void intent_log_epoch_begin(struct intent_log *log, uint64_t newest,
			    bool (*keeps)(void *arg, uint64_t copyset),
			    void *arg)
{
	struct intent_group *group;

	pthread_mutex_lock(&log->lock);
	log->epoch++;
	for (group = log->groups; group; group = group->hh.next) {
		group->keeps = keeps(arg, group->copyset);
		if (group->state == INTENT_ALL_IN_FORCE && !group->keeps &&
		    group->all->filed)
			intent_group_set_state(log, group, INTENT_ALL_ENDING);
	}
	/* Changes of files below `next` have had blocks since the former call. */
	log->raised = newest ? log->next : log->horizon;
	if (newest > log->next)
		log->next = newest;
	pthread_mutex_unlock(&log->lock);
}

/* ---- a new file ---- */

/* A change in progress counts as one of the present epoch. */
static void touch_changes(struct intent_log *log,
			  const struct intent_changes *changes)
{
	const struct intent_log_change *change;

	TAILQ_FOREACH(change, changes, link) {
		for (unsigned int i = 0; i < change->n_parts; i++)
			intent_block_touch(log, change->part[i].block,
					   change->part[i].bits);
		if (!change->n_parts && change->number < log->raised)
			log->raised = log->horizon;
	}
}

/* From here on, the file has the regions of a block only if both files have them. */
static void scan_begin(struct intent_log *log)
{
	struct intent_group *group;
	bool still;

	touch_changes(log, &log->waiting);
	touch_changes(log, &log->running);
	for (group = log->groups; group; group = group->hh.next) {
		if (group->state != INTENT_ALL_ENDING)
			continue;
		intent_block_touch(log, group->all, 0);
		still = group->keeps || group->all->recent;
		intent_group_set_state(log, group,
				       still ? INTENT_ALL_IN_FORCE
					     : INTENT_ALL_LEAVING);
	}
	log->horizon = log->raised;
}

static void scan_end(struct intent_log *log, bool installed)
{
	struct intent_group *group;

	for (group = log->groups; group; group = group->hh.next) {
		if (group->state != INTENT_ALL_LEAVING)
			continue;
		if (!installed) {
			group->state = INTENT_ALL_ENDING;
			continue;
		}
		intent_block_free(log, group->all);
		group->all = NULL;
		group->state = INTENT_ALL_NONE;
	}
}

/* Whether the entry of the copyset is in the present file, and in the new file. */
static bool all_was_filed(const struct intent_group *group)
{
	return group->all && group->all->filed;
}

static bool all_is_filed(const struct intent_group *group)
{
	return all_was_filed(group) && group->state == INTENT_ALL_IN_FORCE;
}

/*
 * Sets which regions the new file has.  True: *record is for it.  A block without a change that
 * counts is freed.  former: the horizon of the present file.
 */
static bool scan_block(struct intent_log *log, struct intent_block *block,
		       uint64_t former, struct intent_record *record)
{
	struct intent_group *group = block->group;
	bool is_all = block == group->all;
	bool was_covered = block->number >= former ||
			   (!is_all && all_was_filed(group));
	bool is_covered = block->number >= log->horizon ||
			  (!is_all && all_is_filed(group));

	if (is_all && group->state == INTENT_ALL_LEAVING)
		return false;
	intent_block_touch(log, block, 0);
	if (!is_all && (!group->keeps || all_is_filed(group)))
		block->stale = 0;
	block->filed = (block->recent | block->stale) &
		       (was_covered ? UINT64_MAX : block->filed);
	*record = (struct intent_record){ block->key.handle, block->key.copyset,
					  block->key.block, block->filed };
	if (!intent_block_counts(block))
		intent_block_free(log, block);
	return !is_covered && record->bits;
}

/*
 * Visits some blocks of a list from *next on, and advances it.  Other threads only add blocks at the
 * end, and they add no regions to the present file.  Returns the number of records.
 */
static size_t scan_some(struct intent_log *log, struct intent_block **next,
			uint64_t former, struct intent_record *records)
{
	size_t n = 0;

	pthread_mutex_lock(&log->lock);
	for (unsigned int i = 0; i < STEP && *next; i++) {
		struct intent_block *block = *next;

		*next = TAILQ_NEXT(block, in_group);
		n += scan_block(log, block, former, &records[n]);
	}
	pthread_mutex_unlock(&log->lock);
	return n;
}

static struct intent_group *next_group(struct intent_log *log,
				       const struct intent_group *group,
				       struct intent_block **first)
{
	struct intent_group *next;

	pthread_mutex_lock(&log->lock);
	next = group ? group->hh.next : log->groups;
	if (next)
		*first = TAILQ_FIRST(&next->blocks);
	pthread_mutex_unlock(&log->lock);
	return next;
}

static int write_entries(struct intent_log *log, uint64_t former,
			 struct intent_file *file)
{
	struct intent_record records[STEP];
	struct intent_group *group = NULL;
	struct intent_block *next;
	int rc = 0;

	while (!rc && (group = next_group(log, group, &next)))
		while (!rc && next) {
			size_t n = scan_some(log, &next, former, records);

			rc = intent_file_append(file, records, n);
		}
	return rc;
}

/* *final: an error is one of the installation: the log cannot be used. */
static int write_file(struct intent_log *log, const struct intent_head *head,
		      uint64_t former, struct intent_file *file, bool *final)
{
	int rc = intent_file_make(&log->attr.disk, head, file);

	if (rc)
		return rc;
	rc = write_entries(log, former, file);
	rc = rc ? rc : intent_file_sync(file);
	*final = !rc;
	rc = rc ? rc : intent_file_install(file);
	if (rc)
		intent_file_close(file);
	return rc;
}

int intent_log_rewrite(struct intent_log *log)
{
	struct intent_head head = { .store = log->attr.store };
	struct intent_file file, old = { .fd = -1 };
	bool final = false;
	uint64_t former;
	int rc;

	pthread_mutex_lock(&log->lock);
	rc = log->failed;
	former = log->horizon;
	if (!rc)
		scan_begin(log);
	head.epoch = log->epoch;
	head.horizon = log->horizon;
	pthread_mutex_unlock(&log->lock);
	if (rc)
		return rc;
	rc = write_file(log, &head, former, &file, &final);
	pthread_mutex_lock(&log->lock);
	if (rc) {
		log->failed = final ? rc : 0;
		log->horizon = former;
	} else {
		old = log->file;
		log->file = file;
	}
	scan_end(log, !rc);
	pthread_mutex_unlock(&log->lock);
	if (old.fd >= 0)
		intent_file_close(&old);
	return rc;
}

int intent_log_epoch_end(struct intent_log *log)
{
	int rc;

	pthread_mutex_lock(&log->file_lock);
	rc = intent_log_rewrite(log);
	pthread_mutex_unlock(&log->file_lock);
	return rc;
}
