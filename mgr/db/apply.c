/* SPDX-License-Identifier: BSD-2-Clause */
/* apply.c - committed entries of the managers' log, at a manager that does not lead. */
#include <errno.h>

#include "mgr/db/replication_int.h"

/* Logs that the tables differ from those of the leader. */
static int report_different(struct store *st, const char *what)
{
	log_error(st->log,
		  "database %s: %s: it differs from the leader's: let another "
		  "manager fill this one",
		  st->home, what);
	atomic_store(&st->failed, true);
	return -EIO;
}

static int apply_rows(struct store *st, const struct write_entry_info *info)
{
	const uint8_t *at = info->rows;
	struct row_image row;
	int rc = 0;

	while (!rc && row_next(&at, info->end, &row) == 1)
		rc = row.exists ? raw_put(st, row.table, row.key, row.klen,
					  row.val, row.len, 0)
				: raw_del(st, row.table, row.key, row.klen);
	return rc == -ENOENT
		       ? report_different(st, "a row to delete does not exist")
		       : rc;
}

/* *next: the position after the entry, with a configuration that was noted before it. */
static int position_after(struct replication *rep, uint64_t index,
			  uint64_t term, const struct write_entry_info *info,
			  struct store_applied *next)
{
	int rc = 0;

	pthread_mutex_lock(&rep->lock);
	*next = rep->noted;
	pthread_mutex_unlock(&rep->lock);
	if (index <= next->index)
		return -EALREADY;
	if (info->first != next->change + 1)
		rc = -EILSEQ;
	next->index = index;
	next->term = term;
	next->change = info->last;
	return rc;
}

static void note_applied(struct replication *rep,
			 const struct store_applied *next)
{
	replication_set_applied(rep, next);
	pthread_mutex_lock(&rep->lock);
	rep->noted = *next;
	rep->change = next->change;
	pthread_mutex_unlock(&rep->lock);
}

int store_apply(struct store *st, uint64_t index, uint64_t term,
		const void *entry, size_t len)
{
	struct replication *rep = st->rep;
	struct store_applied next;
	struct write_entry_info info;
	int rc = rep->leading ? -EPERM : write_entry_read(entry, len, &info);

	if (!rc)
		rc = position_after(rep, index, term, &info, &next);
	if (!rc)
		rc = raw_begin(st);
	if (rc)
		return rc;
	rc = apply_rows(st, &info);
	if (!rc)
		rc = applied_put(st, &next, &rep->applied);
	rc = raw_end(st, rc);
	if (!rc)
		note_applied(rep, &next);
	return rc;
}
