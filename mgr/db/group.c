/* SPDX-License-Identifier: BSD-2-Clause */
/* group.c - how the store of one manager becomes one of several, and back. */
#include <errno.h>

#include "common/util/random_id.h"
#include "mgr/db/replication_int.h"

#define MARK "replicated" /* of all stores of the group: TABLE_MEMBER exists */

int group_mark_get(struct store *st, bool *marked)
{
	uint64_t value;
	int rc = meta_get_u64(st, MARK, &value);

	*marked = !rc;
	return rc == -ENOENT ? 0 : rc;
}

int group_mark_put(struct store *st)
{
	return meta_put_u64(st, MARK, 1);
}

/*
 * The rows that the store has are in no entry.  So its changes are numbered from a random number
 * on: no entry then fits an empty store.
 */
static int first_change(uint64_t *change)
{
	int rc = random_id(change);

	*change = *change >> 2 | UINT64_C(1) << 61;
	return rc;
}

static int group_begin(struct store *st)
{
	const struct store_applied none = { 0 };
	struct store_applied applied = { 0 };
	const uint8_t mark[8] = { 1 };
	int rc = first_change(&applied.change);

	if (!rc)
		rc = raw_begin(st);
	if (rc)
		return rc;
	rc = raw_put(st, STORE_META, MARK, sizeof(MARK) - 1, mark, sizeof(mark),
		     0);
	if (!rc)
		rc = applied_put(st, &applied, &none);
	rc = raw_end(st, rc);
	/* entries will have this number: it must not be drawn again */
	return rc ? rc
		  : store_error(st, st->env->log_flush(st->env, NULL), "flush");
}

int group_open(struct store *st)
{
	uint64_t format;
	bool marked;
	int rc = group_mark_get(st, &marked);

	if (!rc && !marked && !meta_get_u64(st, "format", &format))
		rc = group_begin(st);
	if (!rc)
		rc = undo_all(st);
	return rc ? rc : replication_load(st);
}

int group_leave(struct store *st)
{
	int rc = undo_all(st);

	if (!rc)
		rc = raw_begin(st);
	if (rc)
		return rc;
	rc = applied_del(st);
	if (!rc)
		rc = raw_del(st, STORE_META, MARK, sizeof(MARK) - 1);
	return raw_end(st, rc);
}
