/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * replication.c - the write sets of committed transactions until they are replicated, and up to
 * which change the managers' log is known as committed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mgr/db/replication_int.h"

/* ---- open and close ---- */

int replication_new(const struct store_attr *attr, struct replication **out)
{
	struct replication *rep = calloc(1, sizeof(*rep));

	if (!rep)
		return -ENOMEM;
	rep->replicate = attr->replicate;
	rep->arg = attr->replicate_arg;
	pthread_mutex_init(&rep->flush_lock, NULL);
	pthread_mutex_init(&rep->lock, NULL);
	STAILQ_INIT(&rep->entries);
	*out = rep;
	return 0;
}

static void entry_free(struct queued_entry *e)
{
	write_entry_free(&e->entry);
	free(e);
}

void replication_free(struct replication *rep)
{
	struct queued_entry *e;

	if (!rep)
		return;
	while ((e = STAILQ_FIRST(&rep->entries))) {
		STAILQ_REMOVE_HEAD(&rep->entries, link);
		entry_free(e);
	}
	if (rep->spare)
		entry_free(rep->spare);
	undo_slots_free(&rep->undo);
	row_list_free(&rep->changes.before);
	row_list_free(&rep->changes.after);
	pthread_mutex_destroy(&rep->lock);
	pthread_mutex_destroy(&rep->flush_lock);
	free(rep);
}

int replication_load(struct store *st)
{
	struct replication *rep = st->rep;
	int rc = applied_get(st, &rep->applied);

	if (rc)
		return rc;
	rep->noted = rep->applied;
	rep->change = rep->applied.change;
	rep->index_written = rep->applied.index;
	rep->index_durable = rep->applied.index;
	return 0;
}

int store_get_applied(struct store *st, struct store_applied *applied)
{
	if (st->rep)
		*applied = st->rep->applied;
	return st->rep ? 0 : -ENOENT;
}

/* ---- transactions of the leader ---- */

/* Nothing may fail after the commit, so the memory is allocated before. */
static int reserve_spare(struct replication *rep, const struct row_list *set)
{
	if (!rep->spare)
		rep->spare = calloc(1, sizeof(*rep->spare));
	return rep->spare ? write_entry_reserve(&rep->spare->entry, set)
			  : -ENOMEM;
}

/* The caller holds the lock.  Returns the entry that gets the write set. */
static struct queued_entry *entry_for(struct replication *rep,
				      const struct row_list *set)
{
	struct queued_entry *e = rep->filling;

	if (e && write_entry_has_room(&e->entry, set) &&
	    !write_entry_reserve(&e->entry, set))
		return e;
	e = rep->spare;
	rep->spare = NULL;
	e->entry.first = rep->change + 1;
	STAILQ_INSERT_TAIL(&rep->entries, e, link);
	rep->filling = e;
	return e;
}

/*
 * In the open transaction.  All noted entries become applied ones, so their undo rows become void.
 */
static int write_applied(struct store *st)
{
	struct replication *rep = st->rep;

	pthread_mutex_lock(&rep->lock);
	rep->writes_applied = rep->noted.index != rep->applied.index;
	if (rep->writes_applied)
		rep->applied_next = rep->noted;
	pthread_mutex_unlock(&rep->lock);
	if (!rep->writes_applied)
		return 0;
	return applied_put(st, &rep->applied_next, &rep->applied);
}

int replication_before_commit(struct store *st)
{
	struct replication *rep = st->rep;
	int rc = rep->changes.error;

	if (!rc)
		rc = reserve_spare(rep, &rep->changes.after);
	if (!rc)
		rc = undo_put(st, rep->change + 1, &rep->changes.before);
	return rc ? rc : write_applied(st);
}

void replication_set_applied(struct replication *rep,
			     const struct store_applied *applied)
{
	rep->applied = *applied;
	pthread_mutex_lock(&rep->lock);
	rep->index_written = applied->index;
	pthread_mutex_unlock(&rep->lock);
}

void replication_after_commit(struct store *st)
{
	struct replication *rep = st->rep;

	if (rep->writes_applied)
		replication_set_applied(rep, &rep->applied_next);
	pthread_mutex_lock(&rep->lock);
	write_entry_add(&entry_for(rep, &rep->changes.after)->entry,
			&rep->changes.after);
	rep->change++;
	pthread_mutex_unlock(&rep->lock);
}

uint64_t store_last_change(struct store *st)
{
	uint64_t change;

	pthread_mutex_lock(&st->rep->lock);
	change = st->rep->change;
	pthread_mutex_unlock(&st->rep->lock);
	return change;
}

bool store_is_committed(struct store *st, uint64_t change)
{
	bool is;

	pthread_mutex_lock(&st->rep->lock);
	is = st->rep->noted.change >= change;
	pthread_mutex_unlock(&st->rep->lock);
	return is;
}

/* ---- flush ---- */

/* The first entry with a change up to this one; it is not filled any further. */
static struct queued_entry *entry_to_send(struct replication *rep,
					  uint64_t change)
{
	struct queued_entry *e;

	pthread_mutex_lock(&rep->lock);
	e = STAILQ_FIRST(&rep->entries);
	if (e && e->entry.first > change)
		e = NULL;
	if (e && e == rep->filling)
		rep->filling = NULL;
	pthread_mutex_unlock(&rep->lock);
	return e;
}

static void entry_sent(struct replication *rep, struct queued_entry *e)
{
	pthread_mutex_lock(&rep->lock);
	STAILQ_REMOVE_HEAD(&rep->entries, link);
	pthread_mutex_unlock(&rep->lock);
	entry_free(e);
}

static int entry_send(struct store *st, struct queued_entry *e)
{
	struct replication *rep = st->rep;
	const struct write_entry *le = &e->entry;
	int rc;

	write_entry_finish(&e->entry);
	rc = rep->replicate(rep->arg, le->list.bytes, le->list.len);
	if (rc)
		return store_error(st, -rc, "replicate");
	if (!store_is_committed(st, le->first + le->changes - 1))
		return store_error(st, EPROTO, "replicate: not committed");
	entry_sent(rep, e);
	return 0;
}

int replication_flush(struct store *st)
{
	struct replication *rep = st->rep;
	struct queued_entry *e;
	uint64_t change;
	int rc = 0;

	change = store_last_change(st);
	if (!rep->replicate)
		return store_is_committed(st, change) ? 0 : -EAGAIN;
	pthread_mutex_lock(&rep->flush_lock);
	while (!rc && (e = entry_to_send(rep, change)))
		rc = entry_send(st, e);
	pthread_mutex_unlock(&rep->flush_lock);
	return rc;
}

/* ---- entries that the owner takes ---- */

/* The caller holds the lock. */
static struct queued_entry *next_entry(struct replication *rep)
{
	struct queued_entry *e = STAILQ_FIRST(&rep->entries);

	while (e && e->handed_out)
		e = STAILQ_NEXT(e, link);
	return e;
}

int store_next_entry(struct store *st, const void **entry, size_t *len)
{
	struct replication *rep = st->rep;
	struct queued_entry *e;

	pthread_mutex_lock(&rep->lock);
	e = next_entry(rep);
	if (e) {
		e->handed_out = true;
		rep->filling = e == rep->filling ? NULL : rep->filling;
		write_entry_finish(&e->entry);
		*entry = e->entry.list.bytes;
		*len = e->entry.list.len;
	}
	pthread_mutex_unlock(&rep->lock);
	return e ? 0 : -ENOENT;
}

/* The caller holds the lock.  Returns the entry with this first change, if the owner has it. */
static struct queued_entry *remove_handed_out(struct replication *rep,
					      uint64_t first)
{
	struct queued_entry *e = STAILQ_FIRST(&rep->entries);

	if (!e || !e->handed_out || e->entry.first != first)
		return NULL;
	STAILQ_REMOVE_HEAD(&rep->entries, link);
	return e;
}

/* ---- the managers' log ---- */

/* The caller holds the lock. */
static int note_position(struct replication *rep, uint64_t index, uint64_t term,
			 uint64_t change)
{
	if (index <= rep->noted.index)
		return -EALREADY;
	rep->noted.index = index;
	rep->noted.term = term;
	rep->noted.change = change;
	return 0;
}

int store_note_committed(struct store *st, uint64_t index, uint64_t term)
{
	struct replication *rep = st->rep;
	int rc;

	pthread_mutex_lock(&rep->lock);
	rc = note_position(rep, index, term, rep->noted.change);
	pthread_mutex_unlock(&rep->lock);
	return rc;
}

/* The caller holds the lock. */
static int note_own_changes(struct replication *rep, uint64_t index,
			    uint64_t term, const struct write_entry_info *info)
{
	if (index <= rep->noted.index)
		return -EALREADY;
	if (info->first != rep->noted.change + 1 || info->last > rep->change)
		return -EILSEQ;
	return note_position(rep, index, term, info->last);
}

int store_note_own_entry(struct store *st, uint64_t index, uint64_t term,
			 const void *entry, size_t len)
{
	struct replication *rep = st->rep;
	struct queued_entry *e = NULL;
	struct write_entry_info info;
	int rc = write_entry_read_head(entry, len, &info);

	if (rc)
		return rc;
	pthread_mutex_lock(&rep->lock);
	rc = note_own_changes(rep, index, term, &info);
	if (!rc)
		e = remove_handed_out(rep, info.first);
	pthread_mutex_unlock(&rep->lock);
	if (e)
		entry_free(e);
	return rc;
}

int store_note_configuration(struct store *st, uint64_t index, uint64_t term,
			     const void *config, size_t len)
{
	struct replication *rep = st->rep;
	int rc;

	if (len > STORE_CONFIG_MAX)
		return -E2BIG;
	pthread_mutex_lock(&rep->lock);
	rc = note_position(rep, index, term, rep->noted.change);
	if (!rc) {
		rep->noted.config_index = index;
		rep->noted.config_len = len;
		memcpy(rep->noted.config, config, len);
	}
	pthread_mutex_unlock(&rep->lock);
	return rc;
}

int store_record_committed(struct store *st)
{
	struct replication *rep = st->rep;
	int rc = raw_begin(st);

	if (!rc)
		rc = raw_end(st, write_applied(st));
	if (!rc && rep->writes_applied)
		replication_set_applied(rep, &rep->applied_next);
	return rc;
}

/* ---- durability ---- */

uint64_t replication_index_written(struct replication *rep)
{
	uint64_t index;

	pthread_mutex_lock(&rep->lock);
	index = rep->index_written;
	pthread_mutex_unlock(&rep->lock);
	return index;
}

void replication_note_durable(struct replication *rep, uint64_t index)
{
	pthread_mutex_lock(&rep->lock);
	if (rep->index_durable < index)
		rep->index_durable = index;
	pthread_mutex_unlock(&rep->lock);
}

uint64_t store_durable_index(const struct store *st)
{
	struct replication *rep = st->rep;
	uint64_t index;

	pthread_mutex_lock(&rep->lock);
	index = rep->index_durable;
	pthread_mutex_unlock(&rep->lock);
	return index;
}
