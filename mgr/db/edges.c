/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * edges.c - are the pages there on the way to the first and to the last row of
 * a table?  Berkeley DB takes a page of zeros for one that was never written:
 * a root for a table without rows, and any other it looks for over and over,
 * without end.
 *
 * A page begins with 26 bytes, the last of which says what it is, and a
 * checksum; then the places of its entries, of 2 bytes each.  An entry of an
 * inner page has its child at its fifth byte.
 */
#include <errno.h>
#include <string.h>

#include "db_int.h"

#define ROOT 1u /* whatever a table grew to */
#define ENTRIES_AT 20u
#define TYPE_AT 25u
#define PLACES_AT 32u
#define CHILD_AT 4u
#define INNER 3u
#define LEAF 5u
#define LEVELS_MAX 16u

/* 1: *number is the page below; 0: it is a leaf; -EIO: neither. */
static int below(const uint8_t *page, bool last, db_pgno_t *number)
{
	uint16_t entries, at;

	if (page[TYPE_AT] == LEAF)
		return 0;
	memcpy(&entries, page + ENTRIES_AT, sizeof(entries));
	if (page[TYPE_AT] != INNER || !entries ||
	    PLACES_AT + 2u * entries > STORE_PAGE)
		return -EIO;
	memcpy(&at, page + PLACES_AT + (last ? 2u * (entries - 1u) : 0),
	       sizeof(at));
	if (at + CHILD_AT + sizeof(*number) > STORE_PAGE)
		return -EIO;
	memcpy(number, page + at + CHILD_AT, sizeof(*number));
	return 1;
}

static int step_down(struct store *st, DB_MPOOLFILE *pages, bool last,
		     db_pgno_t *number)
{
	void *page;
	int more, rc;

	rc = store_error(st, pages->get(pages, number, NULL, 0, &page),
			 "read a page");
	if (rc)
		return rc;
	more = below(page, last, number);
	rc = store_error(st, pages->put(pages, page, DB_PRIORITY_UNCHANGED, 0),
			 "read a page");
	return rc ? rc : more;
}

static int edge_check(struct store *st, DB_MPOOLFILE *pages, bool last)
{
	db_pgno_t number = ROOT;
	unsigned int level = 0;
	int rc = 1;

	while (rc > 0 && level++ < LEVELS_MAX)
		rc = step_down(st, pages, last, &number);
	return rc > 0 ? -EIO : rc;
}

int edges_check(struct store *st, enum store_table table)
{
	DB_MPOOLFILE *pages = st->db[table]->get_mpf(st->db[table]);
	int rc = edge_check(st, pages, false);

	if (!rc)
		rc = edge_check(st, pages, true);
	if (rc)
		atomic_store(&st->failed, true);
	return rc;
}
