/* SPDX-License-Identifier: BSD-2-Clause */
/* assignments.c - see assignments.h. */
#include "server/copyset/assignments.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/util/clock.h"
#include "server/copyset/assignments_file.h"

struct assignment {
	struct copyset set; /* the version in force */
	/* when the promises allow it to be served; of the last durable version */
	struct promises_span serve;
	unsigned int running; /* changes */
	bool durable; /* this version is in the file */
	bool draining; /* changes of an earlier version must end first */
	uint64_t revision; /* the last one with this row; 0: the row is from the file */
	bool moved; /* the rows of a later revision do not have it */
	bool stopped; /* copyset_stop() */
	uint64_t changes; /* that had targets */
};

struct assignments {
	uint32_t iod;
	int dirfd;
	const struct log *log;
	/* One thread at a time changes rows and writes the file.  Taken before `lock`. */
	pthread_mutex_t writing;
	uint64_t logged; /* under `writing`: when a failed write was last logged */
	pthread_mutex_t lock; /* guards all below; not held over a wait */
	struct promises *promises; /* for the rows that are durable */
	bool unwritten; /* a row is not durable */
	uint64_t revision; /* the highest that arrived */
	uint32_t n, room;
	struct assignment *row; /* in ascending order of their ids */
};

/* ---- rows ---- */

/* The index of the first row whose id is at least id. */
static uint32_t row_index(const struct assignments *a, uint32_t id)
{
	uint32_t low = 0, high = a->n;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (a->row[mid].set.id < id)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* NULL: there is none. */
static struct assignment *row_find(const struct assignments *a, uint32_t id)
{
	uint32_t i = row_index(a, id);

	return i < a->n && a->row[i].set.id == id ? &a->row[i] : NULL;
}

static int rows_grow(struct assignments *a)
{
	uint32_t room = a->room ? 2 * a->room : 64;
	struct assignment *row;

	if (a->n < a->room)
		return 0;
	if (a->n == ASSIGNMENTS_MAX)
		return -ENOSPC;
	row = realloc(a->row, room * sizeof(*row));
	if (!row)
		return -ENOMEM;
	a->row = row;
	a->room = room;
	return 0;
}

static int row_add(struct assignments *a, const struct copyset *set)
{
	int rc = rows_grow(a);
	uint32_t i;

	if (rc)
		return rc;
	i = row_index(a, set->id);
	memmove(&a->row[i + 1], &a->row[i], (a->n - i) * sizeof(a->row[0]));
	a->row[i] = (struct assignment){ .set = *set };
	a->n++;
	return 0;
}

/* Whether the primary stays this iod, and no other one was primary between the two versions. */
static bool stays_primary(const struct assignments *a,
			  const struct copyset *old, const struct copyset *set)
{
	return set->version == old->version + 1 &&
	       copyset_primary(old) == a->iod && copyset_primary(set) == a->iod;
}

static int row_change(struct assignments *a, const struct copyset *set)
{
	struct assignment *row = row_find(a, set->id);
	int rc;

	if (!row) {
		rc = row_add(a, set);
		if (rc)
			return rc;
		row = row_find(a, set->id);
	} else if (set->version > row->set.version) {
		if (!stays_primary(a, &row->set, set))
			row->draining = row->running;
		row->set = *set;
		row->durable = false;
		row->stopped = false;
	}
	row->revision = a->revision;
	row->moved = false;
	a->unwritten |= !row->durable;
	return 0;
}

/* Rows that no part of this revision has. */
static void rows_move_away(struct assignments *a)
{
	for (uint32_t i = 0; i < a->n; i++)
		a->row[i].moved = a->row[i].revision != a->revision;
}

/* ---- changing them ---- */

static void end_processes(struct assignments *a,
			  const struct assignment_part *part)
{
	for (unsigned int i = 0; i < part->nended; i++)
		promises_end_process(a->promises, part->ended[i].iod,
				     part->ended[i].process);
	for (uint32_t i = 0; part->nended && i < a->n; i++)
		a->row[i].serve = promises_serve_span(a->promises,
						      a->row[i].set.id);
}

static int rows_change(struct assignments *a,
		       const struct assignment_part *part)
{
	int rc = 0;

	pthread_mutex_lock(&a->lock);
	end_processes(a, part);
	if (part->revision >= a->revision) {
		a->revision = part->revision;
		for (unsigned int i = 0; !rc && i < part->n; i++)
			rc = row_change(a, &part->set[i]);
		if (!rc && part->last)
			rows_move_away(a);
	}
	pthread_mutex_unlock(&a->lock);
	return rc;
}

/* `writing` is held, so only this thread changes rows. */
static int rows_write(struct assignments *a)
{
	struct copyset *set = calloc(a->n, sizeof(*set));
	int rc;

	if (!set)
		return -ENOMEM;
	for (uint32_t i = 0; i < a->n; i++)
		set[i] = a->row[i].set;
	rc = assignments_write(a->dirfd, set, a->n);
	free(set);
	return rc;
}

/* The promises have room for ASSIGNMENTS_MAX copysets, and have an older version of this one. */
static void row_set_durable(struct assignments *a, struct assignment *row)
{
	if (row->durable)
		return;
	promises_set_row(a->promises, &row->set);
	row->serve = promises_serve_span(a->promises, row->set.id);
	row->durable = true;
}

static void rows_set_durable(struct assignments *a)
{
	pthread_mutex_lock(&a->lock);
	for (uint32_t i = 0; i < a->n; i++)
		row_set_durable(a, &a->row[i]);
	a->unwritten = false;
	pthread_mutex_unlock(&a->lock);
}

static void log_change_error(struct assignments *a, int rc)
{
	if (rc == -ENOMEM || !log_pace(&a->logged))
		return;
	if (a->n == ASSIGNMENTS_MAX)
		log_error(a->log,
			  "the managers assigned more than %u copysets to this "
			  "iod: it serves no further ones",
			  ASSIGNMENTS_MAX);
	else
		log_error(a->log,
			  "cannot write the file " ASSIGNMENTS_FILE
			  " of the storage: %s; until it is written, copysets "
			  "whose members changed are not served here: free "
			  "space, or replace the disk",
			  strerror(-rc));
}

int assignments_change(struct assignments *a,
		       const struct assignment_part *part)
{
	int rc;

	pthread_mutex_lock(&a->writing);
	rc = rows_change(a, part);
	if (!rc && a->unwritten)
		rc = rows_write(a);
	if (!rc)
		rows_set_durable(a);
	else
		log_change_error(a, rc);
	pthread_mutex_unlock(&a->writing);
	return rc;
}

/* ---- promises ---- */

uint32_t assignments_ask_promises(struct assignments *a, uint32_t to,
				  uint32_t first, struct promise_head *head,
				  struct promise *list, uint32_t max)
{
	uint32_t n;

	pthread_mutex_lock(&a->lock);
	n = promises_ask(a->promises, to, first, clock_boot(), head, list, max);
	pthread_mutex_unlock(&a->lock);
	return n;
}

/* The rows that it promises have another primary, so they are not served here anyway. */
uint32_t assignments_give_promises(struct assignments *a, uint32_t from,
				   const struct promise_head *head,
				   struct promise *list, uint32_t n)
{
	pthread_mutex_lock(&a->lock);
	n = promises_answer(a->promises, from, head, list, n, clock_boot());
	pthread_mutex_unlock(&a->lock);
	return n;
}

void assignments_accept_promises(struct assignments *a, uint32_t from,
				 const struct promise_head *head,
				 const struct promise *list, uint32_t n)
{
	pthread_mutex_lock(&a->lock);
	promises_accept(a->promises, from, head, list, n, clock_boot());
	for (uint32_t i = 0; i < n; i++) {
		struct assignment *row = row_find(a, list[i].copyset);

		if (row)
			row->serve = promises_serve_span(a->promises,
							 row->set.id);
	}
	pthread_mutex_unlock(&a->lock);
}

/* ---- requests ---- */

static bool is_served(const struct assignment *row, uint32_t version)
{
	return row && row->set.version == version && row->durable &&
	       !row->draining && !row->moved &&
	       promises_span_has(&row->serve, clock_boot());
}

static int copyset_admit(struct assignments *a, struct copyset_ref ref,
			 unsigned int change)
{
	struct assignment *row;
	bool served;

	pthread_mutex_lock(&a->lock);
	row = row_find(a, ref.id);
	served = is_served(row, ref.version);
	if (served)
		row->running += change;
	pthread_mutex_unlock(&a->lock);
	return served ? 0 : -WIRE_ECOPYSET;
}

int copyset_check(struct assignments *a, struct copyset_ref ref)
{
	return copyset_admit(a, ref, 0);
}

bool copyset_is_served(struct assignments *a, uint32_t id)
{
	const struct assignment *row;
	bool served;

	pthread_mutex_lock(&a->lock);
	row = row_find(a, id);
	served = row && is_served(row, row->set.version);
	pthread_mutex_unlock(&a->lock);
	return served;
}

int copyset_enter(struct assignments *a, struct copyset_ref ref)
{
	return copyset_admit(a, ref, 1);
}

static void find_targets(const struct assignments *a, struct assignment *row,
			 struct copyset_targets *targets)
{
	targets->n = 0;
	targets->number = ++row->changes;
	for (uint32_t i = 0; i < row->set.n; i++)
		if (row->set.member[i].iod != a->iod &&
		    row->set.member[i].state != COPYSET_OFFLINE)
			targets->iod[targets->n++] = row->set.member[i].iod;
}

int copyset_enter_targets(struct assignments *a, struct copyset_ref ref,
			  struct copyset_targets *targets)
{
	struct assignment *row;
	bool served;

	pthread_mutex_lock(&a->lock);
	row = row_find(a, ref.id);
	served = is_served(row, ref.version) && !row->stopped;
	if (served) {
		row->running++;
		find_targets(a, row, targets);
	}
	pthread_mutex_unlock(&a->lock);
	return served ? 0 : -WIRE_ECOPYSET;
}

bool copyset_stop(struct assignments *a, struct copyset_ref ref)
{
	struct assignment *row;
	bool first;

	pthread_mutex_lock(&a->lock);
	row = row_find(a, ref.id);
	first = row && row->set.version == ref.version && !row->stopped;
	if (first)
		row->stopped = true;
	pthread_mutex_unlock(&a->lock);
	return first;
}

static bool gets_changes(const struct assignments *a, const struct copyset *set)
{
	for (uint32_t i = 0; i < set->n; i++)
		if (set->member[i].iod == a->iod)
			return set->member[i].state != COPYSET_OFFLINE;
	return false;
}

static int check_order(const struct assignments *a,
		       const struct assignment *row, uint32_t version,
		       uint32_t primary)
{
	if (!row || row->set.version < version ||
	    (row->set.version == version && !row->durable))
		return -EAGAIN;
	if (row->set.version > version || row->moved || primary == a->iod ||
	    copyset_primary(&row->set) != primary ||
	    !gets_changes(a, &row->set))
		return -WIRE_ECOPYSET;
	return 0;
}

int copyset_enter_order(struct assignments *a, struct copyset_ref ref,
			uint32_t primary)
{
	struct assignment *row;
	int rc;

	pthread_mutex_lock(&a->lock);
	row = row_find(a, ref.id);
	rc = check_order(a, row, ref.version, primary);
	if (!rc)
		row->running++;
	pthread_mutex_unlock(&a->lock);
	return rc;
}

void copyset_leave(struct assignments *a, uint32_t id)
{
	struct assignment *row;

	pthread_mutex_lock(&a->lock);
	row = row_find(a, id);
	if (!--row->running)
		row->draining = false;
	pthread_mutex_unlock(&a->lock);
}

/* ---- opening ---- */

static int read_rows(struct assignments *a)
{
	struct copyset *set;
	uint32_t n;
	int rc = assignments_read(a->dirfd, ASSIGNMENTS_MAX, &set, &n);

	if (rc)
		return rc;
	for (uint32_t i = 0; !rc && i < n; i++)
		rc = row_add(a, &set[i]);
	free(set);
	if (!rc)
		rows_set_durable(a);
	return rc;
}

static void log_open_error(const struct log *log, const char *dir, int rc)
{
	if (rc == -EBADMSG)
		log_error(log,
			  "the file " ASSIGNMENTS_FILE
			  " of the storage %s is damaged: restore it from a "
			  "backup, or remove it: the managers send its "
			  "contents again",
			  dir);
	else if (rc != -ENOMEM)
		log_error(log,
			  "cannot read the file " ASSIGNMENTS_FILE
			  " of the storage %s: %s",
			  dir, strerror(-rc));
}

static int open_promises(const struct assignments_attr *attr,
			 struct assignments *a)
{
	const struct promises_attr promises = {
		.iod = attr->iod,
		.process = attr->process,
		.lease = attr->lease,
		.copysets_max = ASSIGNMENTS_MAX
	};

	return promises_open(&promises, attr->started, &a->promises);
}

static int open_file(const char *dir, struct assignments *a)
{
	int rc;

	a->dirfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	rc = a->dirfd < 0 ? -errno : read_rows(a);
	if (rc)
		log_open_error(a->log, dir, rc);
	return rc;
}

int assignments_open(const struct assignments_attr *attr,
		     struct assignments **out)
{
	struct assignments *a = calloc(1, sizeof(*a));
	int rc;

	if (!a)
		return -ENOMEM;
	a->iod = attr->iod;
	a->log = attr->log;
	a->dirfd = -1;
	pthread_mutex_init(&a->writing, NULL);
	pthread_mutex_init(&a->lock, NULL);
	rc = open_promises(attr, a);
	if (!rc)
		rc = open_file(attr->dir, a);
	if (rc) {
		assignments_close(a);
		return rc;
	}
	*out = a;
	return 0;
}

void assignments_close(struct assignments *a)
{
	if (!a)
		return;
	if (a->dirfd >= 0)
		close(a->dirfd);
	pthread_mutex_destroy(&a->lock);
	pthread_mutex_destroy(&a->writing);
	promises_close(a->promises);
	free(a->row);
	free(a);
}
