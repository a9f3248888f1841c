/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * store_space.c - space on the disk.  The store allocates the space of a change before the change,
 * because others may share the disk and take free space at any moment: the next log files
 * (log_files.c), and pages into which tables can grow.
 *
 * Which changes are allowed:
 *
 *   OK --- little free space, or an allocation failed -----------------> LOW
 *   LOW -- ... and the allocated space may not suffice to continue ----> NONE
 *   LOW, NONE -- space was freed and allocated --> OK
 *
 * If space is short, the checkpointer frees old log files sooner; they become the next ones.  A
 * copy-on-write file system does not guarantee allocated space.  There a write may fail, and then
 * nothing is changed until a write has succeeded.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/util/clock.h"
#include "common/util/disk_space.h"
#include "mgr/db/db_int.h"

/*
 * ---- space of the tables ----
 *
 * A page that a change appends to a table stays in the cache for a while; when it is written,
 * there must be space for it.  So the file of each table has blocks after its end, and no holes.
 */

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

static bool is_unsupported(int err)
{
	return err == EOPNOTSUPP || err == ENOSYS;
}

/* If the file system cannot allocate in advance, all space counts as covered. */
static void slack_allocate(struct table_space *sp, uint64_t end)
{
	uint64_t want = end + SLACK + STEP;

	if (!fallocate(sp->fd, FALLOC_FL_KEEP_SIZE, (off_t)sp->covered,
		       (off_t)(want - sp->covered)))
		sp->covered = want;
	else if (is_unsupported(errno))
		sp->covered = UINT64_MAX;
}

static enum store_space table_check_space(struct table_space *sp, uint64_t end)
{
	sp->puts = 0;
	if (sp->covered < end + SLACK)
		slack_allocate(sp, end);
	if (sp->covered >= end + SLACK)
		return STORE_SPACE_OK;
	return sp->covered >= end + SLACK / 2 ? STORE_SPACE_LOW
					      : STORE_SPACE_NONE;
}

void table_space_before_put(struct store *st, enum store_table table)
{
	struct table_space *sp = &st->table_space[table];

	if (++sp->puts >= PUTS_MAX &&
	    table_check_space(sp, table_end(st, table)))
		st->tables_short = true;
}

static enum store_space tables_check_space(struct store *st)
{
	enum store_space worst = STORE_SPACE_OK;

	for (enum store_table t = 0; t < st->files; t++) {
		enum store_space one = table_check_space(&st->table_space[t],
							 table_end(st, t));

		worst = one > worst ? one : worst;
	}
	return worst;
}

void table_space_before_abort(struct store *st, uint64_t end[STORE_FILES])
{
	for (enum store_table t = 0; t < st->files; t++)
		end[t] = table_end(st, t);
}

/*
 * Berkeley DB truncates the pages that an undone transaction appended, and with them
 * the blocks after the end.
 */
void table_space_after_abort(struct store *st,
			     const uint64_t before[STORE_FILES])
{
	for (enum store_table t = 0; t < st->files; t++) {
		struct table_space *sp = &st->table_space[t];
		uint64_t end = table_end(st, t);

		if (end == before[t] || sp->covered == UINT64_MAX)
			continue;
		sp->covered = end;
		if (table_check_space(sp, end))
			st->tables_short = true;
	}
}

static int space_open(struct store *st, enum store_table table)
{
	const char *file, *name;
	char *path;
	int fd, ret = st->db[table]->get_dbname(st->db[table], &file, &name);

	if (ret)
		return store_error(st, ret, "name of a table");
	if (asprintf(&path, "%s/%s", st->home, file) < 0)
		return -ENOMEM;
	fd = open(path, O_WRONLY | O_CLOEXEC);
	free(path);
	if (fd < 0)
		return store_error(st, errno, "open a table");
	st->table_space[table].fd = fd;
	return 0;
}

int table_space_open(struct store *st)
{
	int rc = 0;

	for (enum store_table t = 0; !rc && t < st->files; t++)
		rc = space_open(st, t);
	return rc;
}

void table_space_close(struct store *st)
{
	for (enum store_table t = 0; t < STORE_FILES; t++)
		if (st->table_space[t].fd >= 0)
			close(st->table_space[t].fd);
}

/* ---- which changes are allowed ---- */

#define MIB (UINT64_C(1) << 20)
#define LOW (16 * MIB)
#define ENOUGH (2 * LOW) /* needed to leave LOW */
#define LOOK_NS 20000000 /* between checks; filling a log file takes longer */

bool store_free_bytes(const struct store *st, uint64_t *left)
{
	struct statvfs vfs;

	if (statvfs(st->home, &vfs))
		return false;
	*left = disk_space_left(&vfs);
	return true;
}

static void report_space(struct store *st, enum store_space before,
			 enum store_space now)
{
	if (!before && now)
		log_error(st->log,
			  "%s has less than %llu MiB left: until space is "
			  "freed, files can only be removed",
			  st->home, (unsigned long long)(LOW / MIB));
	else if (before && !now)
		log_info(st->log, "%s has space again", st->home);
}

static enum store_space worse_of(enum store_space a, enum store_space b)
{
	return a > b ? a : b;
}

static void check_space(struct store *st)
{
	enum store_space before = atomic_load(&st->space_state), now;
	uint64_t left;

	now = worse_of(log_files_check_space(st), tables_check_space(st));
	if (atomic_load(&st->full))
		now = STORE_SPACE_NONE;
	if (!now && store_free_bytes(st, &left) &&
	    left < (before ? ENOUGH : LOW))
		now = STORE_SPACE_LOW;
	report_space(st, before, now);
	atomic_store(&st->space_state, now);
}

enum store_space store_check_space(struct store *st)
{
	uint64_t now = clock_now();

	if (st->tables_short || now - st->space_checked >= LOOK_NS) {
		st->space_checked = now;
		st->tables_short = false;
		check_space(st);
	}
	return atomic_load(&st->space_state);
}

bool store_is_short(const struct store *st)
{
	return atomic_load(&st->space_state) != STORE_SPACE_OK;
}
