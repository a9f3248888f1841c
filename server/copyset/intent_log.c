/* SPDX-License-Identifier: BSD-2-Clause */
/* intent_log.c - changes, group commit, and the list of entries. */
#include "server/copyset/intent_log.h"

#include <errno.h>
#include <stdlib.h>

#include "server/copyset/intent_log_int.h"

/* ---- open and close ---- */

static struct intent_log *log_new(const struct intent_log_attr *attr)
{
	struct intent_log *log = calloc(1, sizeof(*log));

	if (!log)
		return NULL;
	log->attr = *attr;
	log->file.fd = -1;
	pthread_mutex_init(&log->file_lock, NULL);
	pthread_mutex_init(&log->lock, NULL);
	TAILQ_INIT(&log->queue);
	TAILQ_INIT(&log->waiting);
	TAILQ_INIT(&log->running);
	return log;
}

void intent_log_close(struct intent_log *log)
{
	if (!log)
		return;
	if (log->file.fd >= 0)
		intent_file_close(&log->file);
	intent_blocks_free(log);
	pthread_mutex_destroy(&log->lock);
	pthread_mutex_destroy(&log->file_lock);
	free(log);
}

static int load_record(void *ctx, const struct intent_record *record)
{
	struct intent_log *log = ctx;
	struct intent_group *group = intent_group_get(log, record->copyset);
	struct intent_block *block;

	if (!group)
		return -ENOMEM;
	block = intent_block_get(log, group, record->handle, record->block);
	if (!block)
		return -ENOMEM;
	block->filed |= record->bits;
	block->recent |= record->bits;
	if (!record->handle) {
		group->all = block;
		if (group->state == INTENT_ALL_NONE)
			intent_group_set_state(log, group, INTENT_ALL_IN_FORCE);
	}
	return 0;
}

/*
 * A log that was loaded is written again: if its last flush failed, the kernel may show what it
 * never writes.
 */
static int log_start(struct intent_log *log, const struct intent_head *head)
{
	struct intent_block *block;

	log->epoch = head->epoch;
	log->horizon = log->next = log->raised = head->horizon;
	for (block = log->blocks; block; block = block->hh.next)
		block->epoch = log->epoch;
	return intent_log_rewrite(log);
}

int intent_log_open(const struct intent_log_attr *attr, struct intent_log **log)
{
	struct intent_log *new = log_new(attr);
	struct intent_head head;
	int rc;

	if (!new)
		return -ENOMEM;
	rc = intent_file_load(&attr->disk, &head, load_record, new);
	if (!rc && head.store != attr->store)
		rc = -ESTALE;
	if (!rc) {
		head.epoch++;
		rc = log_start(new, &head);
	}
	if (rc)
		intent_log_close(new);
	else
		*log = new;
	return rc;
}

int intent_log_create(const struct intent_log_attr *attr, uint64_t epoch,
		      struct intent_log **log)
{
	const struct intent_head head = { .epoch = epoch };
	struct intent_log *new = log_new(attr);
	int rc;

	if (!new)
		return -ENOMEM;
	rc = log_start(new, &head);
	if (rc)
		intent_log_close(new);
	else
		*log = new;
	return rc;
}

/* ---- changes ---- */

static int add_part(struct intent_log *log, struct intent_group *group,
		    struct intent_log_change *change, uint64_t block,
		    uint64_t bits)
{
	struct intent_block *found =
		intent_block_get(log, group, change->object.handle, block);

	if (!found)
		return -ENOMEM;
	found->number = change->number;
	change->part[change->n_parts].block = found;
	change->part[change->n_parts++].bits = bits;
	return 0;
}

/* The bits first to last of a word. */
static uint64_t bit_range(uint64_t first, uint64_t last)
{
	return UINT64_MAX << first & UINT64_MAX >> (63 - last);
}

static int add_parts(struct intent_log *log, struct intent_group *group,
		     struct intent_log_change *change)
{
	uint64_t first = change->from / INTENT_LOG_REGION;
	uint64_t last = (change->end - 1) / INTENT_LOG_REGION;
	uint64_t block = first / INTENT_LOG_REGIONS;
	uint64_t last_block = last / INTENT_LOG_REGIONS;
	int rc;

	if (change->end == UINT64_MAX || last_block - block > 1)
		return add_part(log, group, change, INTENT_LOG_WHOLE, 1);
	first %= INTENT_LOG_REGIONS;
	last %= INTENT_LOG_REGIONS;
	if (block == last_block)
		return add_part(log, group, change, block,
				bit_range(first, last));
	rc = add_part(log, group, change, block, bit_range(first, 63));
	return rc ? rc
		  : add_part(log, group, change, last_block,
			     bit_range(0, last));
}

/* Sets the parts of the change. */
static int find_parts(struct intent_log *log, struct intent_log_change *change)
{
	struct intent_group *group;
	int rc;

	change->n_parts = 0;
	if (change->number >= log->next)
		return 0;
	group = intent_group_get(log, change->object.copyset);
	rc = group ? intent_blocks_limit(log) : -ENOMEM;
	if (rc)
		return rc;
	if (group->state != INTENT_ALL_IN_FORCE)
		return add_parts(log, group, change);
	change->part[0].block = group->all;
	change->part[0].bits = 1;
	change->n_parts = 1;
	return 0;
}

static void touch_parts(const struct intent_log *log,
			const struct intent_log_change *change)
{
	for (unsigned int i = 0; i < change->n_parts; i++)
		intent_block_touch(log, change->part[i].block,
				   change->part[i].bits);
}

/* Returns whether the change must wait. */
static bool queue_parts(struct intent_log *log,
			struct intent_log_change *change)
{
	bool waits = false;

	for (unsigned int i = 0; i < change->n_parts; i++) {
		struct intent_block *block = change->part[i].block;
		uint64_t missing = change->part[i].bits & ~block->filed;

		if (!missing || intent_block_is_covered(log, block))
			continue;
		intent_block_queue(log, block, missing);
		waits = true;
	}
	return waits;
}

int intent_log_begin(struct intent_log *log, struct intent_log_change *change)
{
	bool wakes = false;
	int rc;

	pthread_mutex_lock(&log->lock);
	rc = log->failed ? log->failed : find_parts(log, change);
	if (!rc) {
		touch_parts(log, change);
		if (queue_parts(log, change)) {
			wakes = TAILQ_EMPTY(&log->waiting);
			TAILQ_INSERT_TAIL(&log->waiting, change, link);
			rc = -EINPROGRESS;
		} else {
			TAILQ_INSERT_TAIL(&log->running, change, link);
		}
	}
	pthread_mutex_unlock(&log->lock);
	if (wakes)
		log->attr.submitted(log->attr.arg);
	return rc;
}

void intent_log_end(struct intent_log *log, struct intent_log_change *change)
{
	pthread_mutex_lock(&log->lock);
	TAILQ_REMOVE(&log->running, change, link);
	touch_parts(log, change);
	if (!change->n_parts && change->number < log->raised)
		log->raised = log->horizon;
	pthread_mutex_unlock(&log->lock);
}

/* ---- group commit ---- */

struct batch {
	struct intent_changes changes;
	struct intent_record *records; /* n */
	struct intent_block **blocks; /* n */
	size_t n;
};

static void batch_fill(struct intent_log *log, struct batch *batch)
{
	struct intent_block *block;

	while ((block = TAILQ_FIRST(&log->queue))) {
		uint64_t bits = intent_block_unqueue(log, block);

		bits &= ~block->filed;
		if (!bits || !batch->records)
			continue;
		batch->blocks[batch->n] = block;
		batch->records[batch->n++] = (struct intent_record){
			block->key.handle, block->key.copyset, block->key.block,
			bits
		};
	}
}

/* Takes all that waits.  -ENOMEM: the changes must fail. */
static int batch_take(struct intent_log *log, struct batch *batch)
{
	size_t n = log->n_queued;
	int rc = log->failed;

	TAILQ_INIT(&batch->changes);
	TAILQ_CONCAT(&batch->changes, &log->waiting, link);
	if (n) {
		batch->records = calloc(n, sizeof(batch->records[0]));
		batch->blocks = calloc(n, sizeof(batch->blocks[0]));
		if (!batch->records || !batch->blocks) {
			free(batch->records);
			batch->records = NULL;
			rc = rc ? rc : -ENOMEM;
		}
	}
	batch_fill(log, batch);
	return rc;
}

static int batch_write(struct intent_log *log, struct batch *batch)
{
	int rc;

	if (!batch->n)
		return 0;
	rc = intent_file_append(&log->file, batch->records, batch->n);
	if (rc)
		return rc;
	rc = intent_file_sync(&log->file);
	pthread_mutex_lock(&log->lock);
	if (rc)
		log->failed = rc;
	for (size_t i = 0; i < batch->n && !rc; i++)
		batch->blocks[i]->filed |= batch->records[i].bits;
	pthread_mutex_unlock(&log->lock);
	return rc;
}

/* Once a change runs, its owner may end it as soon as durable() was called. */
static void batch_complete(struct intent_log *log, struct batch *batch, int rc)
{
	struct intent_log_change *change;

	while ((change = TAILQ_FIRST(&batch->changes))) {
		TAILQ_REMOVE(&batch->changes, change, link);
		if (!rc) {
			pthread_mutex_lock(&log->lock);
			TAILQ_INSERT_TAIL(&log->running, change, link);
			pthread_mutex_unlock(&log->lock);
		}
		change->durable(change, rc);
	}
}

void intent_log_work(struct intent_log *log)
{
	struct batch batch = { .n = 0 };
	int rc;

	pthread_mutex_lock(&log->file_lock);
	pthread_mutex_lock(&log->lock);
	rc = batch_take(log, &batch);
	pthread_mutex_unlock(&log->lock);
	rc = rc ? rc : batch_write(log, &batch);
	batch_complete(log, &batch, rc);
	pthread_mutex_unlock(&log->file_lock);
	free(batch.records);
	free(batch.blocks);
}

/* ---- contents ---- */

void intent_log_get_status(struct intent_log *log,
			   struct intent_log_status *status)
{
	pthread_mutex_lock(&log->lock);
	*status = (struct intent_log_status){ log->file.epoch, log->horizon,
					      HASH_COUNT(log->blocks) };
	pthread_mutex_unlock(&log->lock);
}

/* The first block to list.  -ESTALE: `after` is not there. */
static int list_start(struct intent_log *log, uint64_t copyset,
		      const struct intent_log_entry *after,
		      struct intent_block **block)
{
	struct intent_group *group = intent_group_find(log, copyset);

	*block = group ? TAILQ_FIRST(&group->blocks) : NULL;
	if (!after)
		return 0;
	*block = intent_block_find(log, &(struct intent_block_key){
						after->handle, copyset,
						after->block });
	if (!*block || !intent_block_counts(*block))
		return -ESTALE;
	*block = TAILQ_NEXT(*block, in_group);
	return 0;
}

int intent_log_list(struct intent_log *log, uint64_t copyset,
		    const struct intent_log_entry *after,
		    struct intent_log_entry *entries, unsigned int n)
{
	struct intent_block *block;
	unsigned int found = 0;
	int rc;

	pthread_mutex_lock(&log->lock);
	rc = list_start(log, copyset, after, &block);
	for (; !rc && block && found < n; block = TAILQ_NEXT(block, in_group))
		if (intent_block_counts(block))
			entries[found++] = (struct intent_log_entry){
				block->key.handle, block->key.block,
				intent_block_counts(block)
			};
	pthread_mutex_unlock(&log->lock);
	return rc ? rc : (int)found;
}
