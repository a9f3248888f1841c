/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * slack.c - pages into which the tables can grow.  A page that a change appends to a
 * table stays in the cache for a while; when it is written, there must be space for it.
 * So the file of each table has blocks after its end, and no holes.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "mgr/db/db_int.h"

#define PUTS_MAX 32u /* between checks */
#define PUT_PAGES 4u /* pages per put: more than the average of many puts */
#define SLACK ((uint64_t)PUTS_MAX * PUT_PAGES * STORE_PAGE)
#define STEP SLACK /* allocated additionally at a time */

static uint64_t table_end(struct store *st, enum store_table table)
{
	DB_MPOOLFILE *pages = st->db[table]->get_mpf(st->db[table]);
	db_pgno_t last = 0;

	store_error(st, pages->get_last_pgno(pages, &last), "last page");
	return ((uint64_t)last + 1) * STORE_PAGE;
}

static bool cannot(int err)
{
	return err == EOPNOTSUPP || err == ENOSYS;
}

/* If the file system cannot allocate in advance, all space counts as covered. */
static void take(struct table_space *sp, uint64_t end)
{
	uint64_t want = end + SLACK + STEP;

	if (!fallocate(sp->fd, FALLOC_FL_KEEP_SIZE, (off_t)sp->covered,
		       (off_t)(want - sp->covered)))
		sp->covered = want;
	else if (cannot(errno))
		sp->covered = UINT64_MAX;
}

static enum store_room table_room(struct table_space *sp, uint64_t end)
{
	sp->puts = 0;
	if (sp->covered < end + SLACK)
		take(sp, end);
	if (sp->covered >= end + SLACK)
		return STORE_ROOM;
	return sp->covered >= end + SLACK / 2 ? STORE_ROOM_LOW
					      : STORE_ROOM_NONE;
}

void slack_put(struct store *st, enum store_table table)
{
	struct table_space *sp = &st->space[table];

	if (++sp->puts >= PUTS_MAX && table_room(sp, table_end(st, table)))
		st->tight = true;
}

enum store_room slack_room(struct store *st)
{
	enum store_room worst = STORE_ROOM;

	for (enum store_table t = 0; t < STORE_TABLES; t++) {
		enum store_room one = table_room(&st->space[t],
						 table_end(st, t));

		worst = one > worst ? one : worst;
	}
	return worst;
}

void slack_note(struct store *st, uint64_t end[STORE_TABLES])
{
	for (enum store_table t = 0; t < STORE_TABLES; t++)
		end[t] = table_end(st, t);
}

/*
 * Berkeley DB truncates the pages that an undone transaction appended, and with them
 * the blocks after the end.
 */
void slack_undone(struct store *st, const uint64_t before[STORE_TABLES])
{
	for (enum store_table t = 0; t < STORE_TABLES; t++) {
		struct table_space *sp = &st->space[t];
		uint64_t end = table_end(st, t);

		if (end == before[t] || sp->covered == UINT64_MAX)
			continue;
		sp->covered = end;
		if (table_room(sp, end))
			st->tight = true;
	}
}

static int space_open(struct store *st, enum store_table table)
{
	char *path;
	int fd;

	if (asprintf(&path, "%s/%s", st->home, store_table_name(table)) < 0)
		return -ENOMEM;
	fd = open(path, O_WRONLY | O_CLOEXEC);
	free(path);
	if (fd < 0)
		return store_error(st, errno, "open a table");
	st->space[table].fd = fd;
	return 0;
}

int slack_open(struct store *st)
{
	int rc = 0;

	for (enum store_table t = 0; !rc && t < STORE_TABLES; t++)
		rc = space_open(st, t);
	return rc;
}

void slack_close(struct store *st)
{
	for (enum store_table t = 0; t < STORE_TABLES; t++)
		if (st->space[t].fd >= 0)
			close(st->space[t].fd);
}
