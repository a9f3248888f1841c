/* SPDX-License-Identifier: BSD-2-Clause */
/* holds.c - see holds.h. */
#include "mgr/ns/holds.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/queue.h>

#include "common/util/hash_table.h"
#include "common/util/random_id.h"

#define HOLDS_MAX (1u << 20) /* of all sessions; one may have a quarter */
/* a row costs as much as forgetting this many holds */
#define ROW_COST 8u

struct file_hold {
	UT_hash_handle hh; /* by key */
	uint64_t key[2]; /* session, open: any session may claim any id */
	struct held_file *of; /* NULL: released before it was declared */
	struct hold_session *by;
	bool stored; /* it may have a row */
	bool has_row;
	bool noted; /* has_row depends on the commit */
	bool told; /* by DECLARE */
	LIST_ENTRY(file_hold) same, mine, note;
};

struct held_file {
	UT_hash_handle hh;
	uint64_t handle;
	/* requests that remove its last name over several turns */
	unsigned int leaving;
	struct hold_list holds; /* without a row, as far as is known */
	struct hold_list rows; /* with a row */
};

struct hold_session {
	UT_hash_handle hh;
	uint64_t session;
	bool missing; /* it has not declared its holds */
	bool over; /* it has ended */
	unsigned int n, stored;
	struct hold_list holds;
};

/* ---- the table ---- */

static struct held_file *held_find(struct holds *h, uint64_t handle)
{
	struct held_file *f;

	HASH_FIND(hh, h->files, &handle, sizeof(handle), f);
	return f;
}

static struct held_file *held_get(struct holds *h, uint64_t handle)
{
	struct held_file *f = held_find(h, handle);

	if (f || !(f = calloc(1, sizeof(*f))))
		return f;
	f->handle = handle;
	LIST_INIT(&f->holds);
	LIST_INIT(&f->rows);
	HASH_ADD(hh, h->files, handle, sizeof(f->handle), f);
	if (f->hh.tbl)
		return f;
	free(f);
	return NULL;
}

static void held_tidy(struct holds *h, struct held_file *f)
{
	if (!LIST_EMPTY(&f->holds) || !LIST_EMPTY(&f->rows) || f->leaving)
		return;
	HASH_DEL(h->files, f);
	free(f);
}

static struct hold_session *holder_find(struct holds *h, uint64_t session)
{
	struct hold_session *s;

	HASH_FIND(hh, h->sessions, &session, sizeof(session), s);
	return s;
}

static struct hold_session *holder_get(struct holds *h, uint64_t session)
{
	struct hold_session *s = holder_find(h, session);

	if (s || !(s = calloc(1, sizeof(*s))))
		return s;
	s->session = session;
	LIST_INIT(&s->holds);
	HASH_ADD(hh, h->sessions, session, sizeof(s->session), s);
	if (s->hh.tbl)
		return s;
	free(s);
	return NULL;
}

static void holder_tidy(struct holds *h, struct hold_session *s)
{
	if (s->missing || !LIST_EMPTY(&s->holds))
		return;
	HASH_DEL(h->sessions, s);
	free(s);
}

static struct file_hold *hold_find(struct holds *h, uint64_t session,
				   uint64_t open)
{
	const uint64_t key[] = { session, open };
	struct file_hold *hold;

	HASH_FIND(hh, h->opens, key, sizeof(key), hold);
	return hold;
}

/* NULL also for a hold that was released before it was declared. */
static struct file_hold *hold_of(struct holds *h, uint64_t session,
				 uint64_t open)
{
	struct file_hold *hold = hold_find(h, session, open);

	return hold && hold->of ? hold : NULL;
}

static void hold_free(struct holds *h, struct file_hold *hold)
{
	HASH_DEL(h->opens, hold);
	h->n--;
	hold->by->n--;
	hold->by->stored -= hold->stored;
	if (hold->noted)
		LIST_REMOVE(hold, note);
	LIST_REMOVE(hold, mine);
	LIST_REMOVE(hold, same);
	holder_tidy(h, hold->by);
	if (hold->of)
		held_tidy(h, hold->of);
	free(hold);
}

/* of NULL: a hold of no file. */
static struct file_hold *hold_new(struct holds *h, struct hold_session *by,
				  struct held_file *of, uint64_t open)
{
	struct file_hold *hold = calloc(1, sizeof(*hold));

	if (!hold)
		return NULL;
	*hold = (struct file_hold){
		.key = { by->session, open },
		.of = of,
		.by = by,
	};
	HASH_ADD(hh, h->opens, key, sizeof(hold->key), hold);
	if (!hold->hh.tbl) {
		free(hold);
		return NULL;
	}
	h->n++;
	by->n++;
	LIST_INSERT_HEAD(&by->holds, hold, mine);
	LIST_INSERT_HEAD(of ? &of->holds : &h->early, hold, same);
	return hold;
}

/* handle 0: a hold of no file. */
static int hold_add(struct holds *h, uint64_t session, uint64_t handle,
		    uint64_t open, struct file_hold **out)
{
	struct hold_session *by;
	struct held_file *of;

	if (h->n >= HOLDS_MAX)
		return -ENOSPC;
	if (hold_find(h, session, open))
		return -EEXIST;
	by = holder_get(h, session);
	if (by && by->n >= HOLDS_MAX / 4)
		return -ENOSPC;
	of = handle ? held_get(h, handle) : NULL;
	*out = by && (of || !handle) ? hold_new(h, by, of, open) : NULL;
	if (*out)
		return 0;
	if (by)
		holder_tidy(h, by);
	if (of)
		held_tidy(h, of);
	return -ENOMEM;
}

/* Marks that the hold may have a row, from this run of the manager or an earlier one. */
static void hold_stored(struct file_hold *hold)
{
	hold->by->stored += !hold->stored;
	hold->stored = true;
}

static void hold_move(struct file_hold *hold, bool has_row)
{
	struct held_file *of = hold->of;

	hold->has_row = has_row;
	LIST_REMOVE(hold, same);
	LIST_INSERT_HEAD(has_row ? &of->rows : &of->holds, hold, same);
}

/* ---- OPEN and RELEASE ---- */

/* Each run of the manager begins at a random id, so that it issues none of an earlier run. */
static int next_open(struct holds *h, uint64_t *open)
{
	int rc = h->next ? 0 : random_id(&h->next);

	if (!rc)
		*open = h->next++ | HOLDS_ID;
	return rc;
}

int holds_add(struct ns_op *op, uint64_t handle, uint64_t *open)
{
	struct holds *h = &op->ns->holds;
	struct held_file *of = held_find(h, handle);
	struct file_hold *hold;
	uint64_t id;
	int rc = of && of->leaving ? -EBUSY : next_open(h, &id);

	if (!rc)
		rc = hold_add(h, op->session, handle, id, &hold);
	if (!rc)
		*open = id;
	return rc;
}

/* A later DECLARE must not bring back a hold that was released earlier. */
static enum holds_result release_early(struct ns_op *op, uint64_t open)
{
	struct holds *h = &op->ns->holds;
	struct hold_session *by = holder_find(h, op->session);
	struct file_hold *hold;

	if (!by || !by->missing)
		return HOLDS_NONE;
	hold_add(h, op->session, 0, open, &hold);
	return HOLDS_PERHAPS;
}

enum holds_result holds_release(struct ns_op *op, uint64_t handle,
				uint64_t open)
{
	struct holds *h = &op->ns->holds;
	struct file_hold *hold = hold_of(h, op->session, open);
	bool stored;

	if (!hold)
		return release_early(op, open);
	if (hold->of->handle != handle)
		return HOLDS_OTHER;
	stored = hold->stored;
	hold_free(h, hold);
	return stored ? HOLDS_PERHAPS : HOLDS_ALONE;
}

void holds_drop(struct ns *ns, uint64_t session, uint64_t open)
{
	struct file_hold *hold = hold_of(&ns->holds, session, open);

	if (hold)
		hold_free(&ns->holds, hold);
}

static uint32_t flags_of(const struct file_hold *hold)
{
	return OPEN_HOLD | (hold->told ? OPEN_DECLARED : 0);
}

bool holds_get(struct ns *ns, uint64_t session, uint64_t open, uint64_t *handle,
	       uint32_t *flags)
{
	struct file_hold *hold = hold_of(&ns->holds, session, open);

	if (!hold)
		return false;
	*handle = hold->of->handle;
	*flags = flags_of(hold);
	return true;
}

/* ---- rows ---- */

/*
 * The hold may have a row from before a restart.  If its id was declared, the session
 * may also have adopted a row of another file under this id; that row stays.
 */
static int hold_put_row(struct ns_op *op, const struct file_hold *hold,
			struct inode *ino)
{
	struct open_rec was, rec = { .session = hold->key[0],
				     .open = hold->key[1],
				     .handle = ino->handle,
				     .flags = flags_of(hold) };
	struct store *st = op->ns->st;
	int rc = open_get(st, rec.session, rec.open, &was);

	if (rc != -ENOENT)
		return rc;
	ino->holders++;
	return open_put(st, &rec);
}

static int hold_store(struct ns_op *op, struct file_hold *hold,
		      struct inode *ino)
{
	int rc = hold_put_row(op, hold, ino);

	if (rc)
		return rc;
	hold_stored(hold);
	hold_move(hold, true);
	hold->noted = true;
	LIST_INSERT_HEAD(&op->ns->holds.notes, hold, note);
	return 0;
}

void holds_end_transaction(struct ns *ns, bool committed)
{
	struct file_hold *hold;

	while ((hold = LIST_FIRST(&ns->holds.notes))) {
		LIST_REMOVE(hold, note);
		hold->noted = false;
		if (!committed)
			hold_move(hold, false);
	}
}

void holds_stop_leaving(struct ns *ns, struct ns_pause *pause)
{
	struct held_file *f = pause->held;

	pause->held = NULL;
	if (!f)
		return;
	f->leaving--;
	held_tidy(&ns->holds, f);
}

/* Holds of an ended session need no rows.  NS_PART: there are more. */
static int store_some(struct ns_op *op, struct held_file *f, struct inode *ino)
{
	unsigned int left = op->pause ? NS_TURN_STEPS / 2 * ROW_COST : UINT_MAX;
	struct file_hold *hold;
	unsigned int cost;
	int rc = 0;

	while (!rc && (hold = LIST_FIRST(&f->holds))) {
		cost = hold->by->over ? 1 : ROW_COST;
		if (left < cost)
			return NS_PART;
		left -= cost;
		if (hold->by->over)
			hold_free(&op->ns->holds, hold);
		else
			rc = hold_store(op, hold, ino);
		op->ns->steps += cost == 1 && left % ROW_COST == 0;
	}
	return rc;
}

int holds_store(struct ns_op *op, struct inode *ino)
{
	struct held_file *f = held_find(&op->ns->holds, ino->handle);
	int rc;

	if (!f)
		return 0;
	f->leaving++;
	rc = store_some(op, f, ino);
	if (rc == NS_PART) {
		holds_stop_leaving(op->ns, op->pause);
		op->pause->held = f;
		rc = inode_put(op->ns->st, ino);
		return rc ? rc : NS_PART;
	}
	f->leaving--;
	held_tidy(&op->ns->holds, f);
	return rc;
}

/* ---- after a restart ---- */

bool holds_are_complete(const struct ns *ns)
{
	return !ns->holds.missing;
}

int ns_expect_declare(struct ns *ns, uint64_t session)
{
	struct hold_session *s = holder_get(&ns->holds, session);

	if (!s)
		return -ENOMEM;
	ns->holds.missing += !s->missing;
	s->missing = true;
	return 0;
}

/* Writes the row of a hold that is not in memory. */
static int store_declared_row(struct ns_op *op, const struct ns_hold *what,
			      struct inode *ino)
{
	const struct file_hold row = { .key = { op->session, what->open },
				       .told = true };
	uint32_t before = ino->holders;
	int rc = hold_put_row(op, &row, ino);

	return rc || ino->holders == before ? rc : inode_put(op->ns->st, ino);
}

/*
 * The hold may have a row from before the restart.  It needs one if the file has no
 * name or is losing its last name.
 */
static int hold_declare(struct ns_op *op, struct file_hold *hold,
			struct inode *ino)
{
	uint32_t before = ino->holders;
	int rc;

	hold_stored(hold);
	if (hold->has_row || (ino->nlink && !hold->of->leaving))
		return 0;
	rc = hold_store(op, hold, ino);
	return rc || ino->holders == before ? rc : inode_put(op->ns->st, ino);
}

int ns_declare(struct ns_op *op, const struct ns_hold *what)
{
	struct holds *h = &op->ns->holds;
	struct file_hold *hold = hold_find(h, op->session, what->open);
	struct inode ino;
	int rc;

	if (!holds_id_was_issued(op, what->open) ||
	    (hold && (!hold->of || hold->of->handle != what->handle)))
		return 0;
	rc = inode_get(op->ns->st, what->handle, &ino);
	if (rc || !S_ISREG(ino.mode))
		return rc == -ENOENT ? 0 : rc;
	if (hold)
		return hold_declare(op, hold, &ino);
	rc = hold_add(h, op->session, what->handle, what->open, &hold);
	if (rc == -ENOSPC && !store_check_space(op->ns->st))
		return store_declared_row(op, what, &ino);
	if (!rc)
		hold->told = true;
	return rc ? rc : hold_declare(op, hold, &ino);
}

void ns_all_declared(struct ns *ns, uint64_t session)
{
	struct hold_session *s = holder_find(&ns->holds, session);

	if (!s || !s->missing)
		return;
	s->missing = false;
	ns->holds.missing--;
	holder_tidy(&ns->holds, s);
}

bool ns_tidy_holds(struct ns *ns)
{
	struct holds *h = &ns->holds;

	for (unsigned int i = 0; i < NS_FORGET_HOLDS; i++) {
		if (h->missing || LIST_EMPTY(&h->early))
			return false;
		hold_free(h, LIST_FIRST(&h->early));
	}
	return true;
}

uint32_t ns_count_holds(struct ns *ns, uint64_t session)
{
	struct hold_session *s = holder_find(&ns->holds, session);

	return s ? s->n - s->stored : 0;
}

void ns_session_ended(struct ns *ns, uint64_t session)
{
	struct hold_session *s = holder_find(&ns->holds, session);

	if (s)
		s->over = true;
}

bool ns_forget_holds(struct ns *ns, uint64_t session)
{
	struct hold_session *s = holder_find(&ns->holds, session);

	if (!s)
		return false;
	ns->holds.missing -= s->missing;
	s->missing = true; /* keeps s until we are done */
	for (unsigned int i = 0; i < NS_FORGET_HOLDS; i++)
		if (!LIST_EMPTY(&s->holds))
			hold_free(&ns->holds, LIST_FIRST(&s->holds));
	s->missing = false;
	if (!LIST_EMPTY(&s->holds))
		return true;
	holder_tidy(&ns->holds, s);
	return false;
}

void holds_close(struct ns *ns)
{
	struct hold_session *s, *next;

	HASH_ITER(hh, ns->holds.sessions, s, next)
		while (ns_forget_holds(ns, s->session))
			;
	ns->holds = (struct holds){ 0 };
}
