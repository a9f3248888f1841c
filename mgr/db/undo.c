/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * undo.c - undo rows: the rows of a change as they were before it.  A transaction writes them with
 * its changes.  They are void once a transaction has recorded the change as applied.  So at each
 * point of Berkeley DB's log, the tables without the changes that have undo rows are what is
 * recorded as applied.
 *
 * Void rows are overwritten, not deleted: Berkeley DB syncs its log whenever it frees a page.  So
 * their keys are slots, and a row says which change it belongs to.
 *
 * An undo row is small, because Berkeley DB stores an item of more than a quarter of a page apart.
 */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mgr/db/replication_int.h"

#define UNDO_KEY 4u /* bytes; the slot, big endian; all other keys are longer */
#define UNDO_ROW 944u /* bytes of images; one old row may be larger */
#define UNDO_ROW_MAX                                                           \
	(sizeof(struct undo_head) + STORE_KEY_MAX + STORE_VAL_MAX + 64)
#define IMAGES_MAX (UNDO_ROW / 9 + 1) /* a row has at least 9 bytes */
#define UNDO_AT_ONCE 256u /* undo rows in one transaction */

/* Starts an undo row; little endian. */
struct undo_head {
	uint64_t change;
	uint32_t n; /* of the undo rows of the change: 0, 1, ... */
	uint32_t zero;
};

/* ---- slots ---- */

static int add_slot(struct undo_slots *slots)
{
	unsigned int room = slots->room ? 2 * slots->room : 64;
	uint64_t *change = slots->change;

	if (slots->n == slots->room) {
		change = reallocarray(change, room, sizeof(*change));
		if (!change)
			return -ENOMEM;
		slots->change = change;
		slots->room = room;
	}
	slots->n++;
	return 0;
}

/* The next slot whose row is void, or a new one, for a row of this change. */
static int take_slot(struct undo_slots *slots, uint64_t change,
		     uint64_t applied, uint32_t *slot)
{
	int rc;

	if (slots->n && slots->change[slots->next] <= applied) {
		*slot = slots->next;
		slots->next = (slots->next + 1) % slots->n;
	} else {
		rc = add_slot(slots);
		if (rc)
			return rc;
		*slot = slots->n - 1;
	}
	slots->change[*slot] = change;
	return 0;
}

void undo_slots_free(struct undo_slots *slots)
{
	free(slots->change);
	*slots = (struct undo_slots){ 0 };
}

/* ---- the leader's changes ---- */

/* Returns the end of the rows that go into one undo row. */
static const uint8_t *undo_row_end(const uint8_t *from, const uint8_t *end)
{
	const uint8_t *at = from, *last = from;
	struct row_image row;

	while (row_next(&at, end, &row) == 1 &&
	       (last == from || at - from <= UNDO_ROW))
		last = at;
	return last;
}

static int put_row(struct store *st, const struct undo_head *head,
		   uint64_t change, const uint8_t *from, size_t len)
{
	struct replication *rep = st->rep;
	uint8_t row[UNDO_ROW_MAX];
	uint32_t slot;
	int rc = take_slot(&rep->undo, change, rep->applied.change, &slot);

	if (rc)
		return rc;
	slot = htobe32(slot);
	memcpy(row, head, sizeof(*head));
	memcpy(row + sizeof(*head), from, len);
	return raw_put(st, TABLE_MEMBER, &slot, sizeof(slot), row,
		       sizeof(*head) + len, 0);
}

int undo_put(struct store *st, uint64_t change, const struct row_list *before)
{
	const uint8_t *at = before->bytes, *end = at + before->len, *next;
	uint32_t n = 0;
	int rc = 0;

	for (; !rc && at < end; at = next) {
		const struct undo_head head = { .change = htole64(change),
						.n = htole32(n++) };

		next = undo_row_end(at, end);
		if (next == at)
			return -EBADMSG;
		rc = put_row(st, &head, change, at, (size_t)(next - at));
	}
	return rc;
}

/* ---- changes that are not committed ---- */

static int report_damaged_undo(struct store *st)
{
	log_error(st->log,
		  "database %s: an undo row is damaged: let another manager "
		  "fill this one",
		  st->home);
	atomic_store(&st->failed, true);
	return -EIO;
}

static int restore_row(struct store *st, const struct row_image *row)
{
	return row->exists ? raw_put(st, row->table, row->key, row->klen,
				     row->val, row->len, 0)
			   : raw_del(st, row->table, row->key, row->klen);
}

/* The last image first: a row may have been changed more than once. */
static int restore_images(struct store *st, const uint8_t *bytes, size_t len)
{
	struct row_image image[IMAGES_MAX];
	const uint8_t *at = bytes;
	unsigned int n = 0;
	int rc = 0;

	while (n < IMAGES_MAX &&
	       (rc = row_next(&at, bytes + len, &image[n])) == 1)
		n++;
	if (rc)
		return report_damaged_undo(st);
	while (!rc && n--)
		rc = restore_row(st, &image[n]);
	return rc == -ENOENT ? report_damaged_undo(st) : rc;
}

/* An undo row that an open finds. */
struct undo_place {
	uint64_t change;
	uint32_t n;
	uint32_t slot; /* as in its key */
};

struct undo_places {
	struct undo_place *place;
	size_t n, room;
};

static int add_place(struct undo_places *places, const struct undo_place *new)
{
	size_t room = places->room ? 2 * places->room : 256;
	struct undo_place *place = places->place;

	if (places->n == places->room) {
		place = reallocarray(place, room, sizeof(*place));
		if (!place)
			return -ENOMEM;
		places->place = place;
		places->room = room;
	}
	places->place[places->n++] = *new;
	return 0;
}

/* Sets *place to the next undo row.  Returns 1; 0: there is none; -errno, logged. */
static int next_place(struct store *st, DBC *cursor, struct undo_place *place)
{
	struct undo_head head;
	uint8_t key[16];
	DBT k, v;
	int rc;

	do {
		k = dbt_out(key, sizeof(key));
		v = dbt_out(&head, sizeof(head));
		v.flags |= DB_DBT_PARTIAL;
		v.dlen = sizeof(head);
		rc = store_error(st, cursor->get(cursor, &k, &v, DB_NEXT),
				 "walk");
		if (rc)
			return rc == -ENOENT ? 0 : rc;
	} while (k.size != UNDO_KEY);
	if (v.size != sizeof(head))
		return report_damaged_undo(st);
	*place = (struct undo_place){ .change = le64toh(head.change),
				      .n = le32toh(head.n) };
	memcpy(&place->slot, key, sizeof(place->slot));
	return 1;
}

static int find_places(struct store *st, struct undo_places *places)
{
	DB *db = st->db[TABLE_MEMBER];
	struct undo_place place;
	DBC *cursor;
	int rc = store_error(st, db->cursor(db, NULL, &cursor, 0), "cursor");
	int closed;

	if (rc)
		return rc;
	while ((rc = next_place(st, cursor, &place)) == 1) {
		rc = add_place(places, &place);
		if (rc)
			break;
	}
	closed = store_error(st, cursor->close(cursor), "close cursor");
	return rc ? rc : closed;
}

/* The last row first. */
static int compare_places(const void *left, const void *right)
{
	const struct undo_place *a = left, *b = right;

	if (a->change != b->change)
		return a->change < b->change ? 1 : -1;
	return a->n < b->n ? 1 : -1;
}

static int undo_row(struct store *st, const struct undo_place *place)
{
	uint8_t bytes[UNDO_ROW_MAX];
	size_t len;
	int rc = raw_get(st, TABLE_MEMBER, &place->slot, sizeof(place->slot),
			 bytes, sizeof(bytes), &len);

	return rc ? rc
		  : restore_images(st, bytes + sizeof(struct undo_head),
				   len - sizeof(struct undo_head));
}

/* In a transaction. */
static int undo_some(struct store *st, const struct undo_place *place, size_t n,
		     uint64_t applied)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < n; i++) {
		if (place[i].change > applied)
			rc = undo_row(st, &place[i]);
		if (!rc)
			rc = raw_del(st, TABLE_MEMBER, &place[i].slot,
				     sizeof(place[i].slot));
	}
	return rc;
}

static int undo_places(struct store *st, const struct undo_places *places)
{
	struct store_applied applied;
	int rc = applied_get(st, &applied);

	for (size_t done = 0, n; !rc && done < places->n; done += n) {
		n = places->n - done;
		n = n < UNDO_AT_ONCE ? n : UNDO_AT_ONCE;
		rc = raw_begin(st);
		if (!rc)
			rc = raw_end(st, undo_some(st, places->place + done, n,
						   applied.change));
	}
	return rc;
}

int undo_all(struct store *st)
{
	struct undo_places places = { 0 };
	int rc = find_places(st, &places);

	if (!rc && places.n) {
		qsort(places.place, places.n, sizeof(*places.place),
		      compare_places);
		rc = undo_places(st, &places);
	}
	free(places.place);
	return rc;
}
