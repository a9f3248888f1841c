/* SPDX-License-Identifier: BSD-2-Clause */
/* holds.c - see holds.h. */
#include "holds.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/queue.h>

#include "hash_table.h"
#include "random_id.h"

#define HOLDS_MAX (1u << 20) /* of all; a quarter of that of one */

struct hold {
	UT_hash_handle hh; /* by key */
	uint64_t key[2]; /* session, open: any may name any number */
	struct held *of; /* NULL: it was released before it was declared */
	struct holder *by;
	bool stored; /* it may have a row */
	bool told; /* by DECLARE */
	LIST_ENTRY(hold) same, mine;
};
LIST_HEAD(hold_list, hold);

struct held {
	UT_hash_handle hh;
	uint64_t handle;
	struct hold_list holds;
};

struct holder {
	UT_hash_handle hh;
	uint64_t session;
	bool missing; /* it has not declared what it holds */
	unsigned int n;
	struct hold_list holds;
};

/* ---- the table ---- */

static struct held *held_get(struct holds *h, uint64_t handle)
{
	struct held *f;

	HASH_FIND(hh, h->files, &handle, sizeof(handle), f);
	if (f || !(f = calloc(1, sizeof(*f))))
		return f;
	f->handle = handle;
	LIST_INIT(&f->holds);
	HASH_ADD(hh, h->files, handle, sizeof(f->handle), f);
	if (f->hh.tbl)
		return f;
	free(f);
	return NULL;
}

static void held_tidy(struct holds *h, struct held *f)
{
	if (!LIST_EMPTY(&f->holds))
		return;
	HASH_DEL(h->files, f);
	free(f);
}

static struct holder *holder_find(struct holds *h, uint64_t session)
{
	struct holder *s;

	HASH_FIND(hh, h->sessions, &session, sizeof(session), s);
	return s;
}

static struct holder *holder_get(struct holds *h, uint64_t session)
{
	struct holder *s = holder_find(h, session);

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

static void holder_tidy(struct holds *h, struct holder *s)
{
	if (s->missing || !LIST_EMPTY(&s->holds))
		return;
	HASH_DEL(h->sessions, s);
	free(s);
}

static struct hold *hold_find(struct holds *h, uint64_t session, uint64_t open)
{
	const uint64_t key[] = { session, open };
	struct hold *hold;

	HASH_FIND(hh, h->opens, key, sizeof(key), hold);
	return hold;
}

/* Not one that was released. */
static struct hold *hold_of(struct holds *h, uint64_t session, uint64_t open)
{
	struct hold *hold = hold_find(h, session, open);

	return hold && hold->of ? hold : NULL;
}

static void hold_free(struct holds *h, struct hold *hold)
{
	HASH_DEL(h->opens, hold);
	h->n--;
	hold->by->n--;
	LIST_REMOVE(hold, mine);
	holder_tidy(h, hold->by);
	if (hold->of) {
		LIST_REMOVE(hold, same);
		held_tidy(h, hold->of);
	}
	free(hold);
}

static struct hold *hold_new(struct holds *h, struct holder *by, uint64_t open)
{
	struct hold *hold = calloc(1, sizeof(*hold));

	if (!hold)
		return NULL;
	*hold = (struct hold){ .key = { by->session, open }, .by = by };
	HASH_ADD(hh, h->opens, key, sizeof(hold->key), hold);
	if (!hold->hh.tbl) {
		free(hold);
		return NULL;
	}
	h->n++;
	by->n++;
	LIST_INSERT_HEAD(&by->holds, hold, mine);
	return hold;
}

/* handle 0: of no file. */
static int hold_add(struct holds *h, uint64_t session, uint64_t handle,
		    uint64_t open, struct hold **out)
{
	struct holder *by;

	if (h->n >= HOLDS_MAX)
		return -ENOSPC;
	if (hold_find(h, session, open))
		return -EEXIST;
	by = holder_get(h, session);
	if (by && by->n >= HOLDS_MAX / 4)
		return -ENOSPC;
	*out = by ? hold_new(h, by, open) : NULL;
	if (!*out) {
		if (by)
			holder_tidy(h, by);
		return -ENOMEM;
	}
	if (!handle)
		return 0;
	(*out)->of = held_get(h, handle);
	if (!(*out)->of) {
		hold_free(h, *out);
		return -ENOMEM;
	}
	LIST_INSERT_HEAD(&(*out)->of->holds, *out, same);
	return 0;
}

/* ---- OPEN and RELEASE ---- */

/* No life of the manager gives one that another one gave. */
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
	struct hold *hold;
	uint64_t id;
	int rc = next_open(h, &id);

	if (!rc)
		rc = hold_add(h, op->session, handle, id, &hold);
	if (!rc)
		*open = id;
	return rc;
}

/* What is declared later is older than this. */
static enum holds_was released_early(struct ns_op *op, uint64_t open)
{
	struct holds *h = &op->ns->holds;
	struct holder *by = holder_find(h, op->session);
	struct hold *hold;

	if (!by || !by->missing)
		return HOLDS_NONE;
	hold_add(h, op->session, 0, open, &hold);
	return HOLDS_PERHAPS;
}

enum holds_was holds_release(struct ns_op *op, uint64_t handle, uint64_t open)
{
	struct holds *h = &op->ns->holds;
	struct hold *hold = hold_of(h, op->session, open);
	bool stored;

	if (!hold)
		return released_early(op, open);
	if (hold->of->handle != handle)
		return HOLDS_OTHER;
	stored = hold->stored;
	hold_free(h, hold);
	return stored ? HOLDS_PERHAPS : HOLDS_ALONE;
}

void holds_drop(struct ns *ns, uint64_t session, uint64_t open)
{
	struct hold *hold = hold_of(&ns->holds, session, open);

	if (hold)
		hold_free(&ns->holds, hold);
}

static uint32_t flags_of(const struct hold *hold)
{
	return OPEN_HOLD | (hold->told ? OPEN_TOLD : 0);
}

bool holds_get(struct ns *ns, uint64_t session, uint64_t open, uint64_t *handle,
	       uint32_t *flags)
{
	struct hold *hold = hold_of(&ns->holds, session, open);

	if (!hold)
		return false;
	*handle = hold->of->handle;
	*flags = flags_of(hold);
	return true;
}

/* ---- rows ---- */

/*
 * A transaction that was to write it may have been aborted; and by a number that was told
 * the session may have adopted the row of another file, which stays.
 */
static int store(struct ns_op *op, struct hold *hold, struct inode *ino)
{
	struct open_rec was, rec = { .session = hold->key[0],
				     .open = hold->key[1],
				     .handle = ino->handle,
				     .flags = flags_of(hold) };
	struct store *st = op->ns->st;
	int rc = open_get(st, rec.session, rec.open, &was);

	if (rc != -ENOENT)
		return rc;
	hold->stored = true;
	ino->holders++;
	return open_put(st, &rec);
}

int holds_store(struct ns_op *op, struct inode *ino)
{
	struct holds *h = &op->ns->holds;
	struct hold *hold;
	struct held *f;
	int rc = 0;

	HASH_FIND(hh, h->files, &ino->handle, sizeof(ino->handle), f);
	if (!f)
		return 0;
	for (hold = LIST_FIRST(&f->holds); hold && !rc;
	     hold = LIST_NEXT(hold, same))
		rc = store(op, hold, ino);
	return rc;
}

/* ---- after a restart ---- */

bool holds_complete(const struct ns *ns)
{
	return !ns->holds.missing;
}

int ns_undeclared(struct ns *ns, uint64_t session)
{
	struct holder *s = holder_get(&ns->holds, session);

	if (!s)
		return -ENOMEM;
	ns->holds.missing += !s->missing;
	s->missing = true;
	return 0;
}

static int record(struct ns_op *op, struct hold *hold, struct inode *ino)
{
	uint32_t before = ino->holders;
	int rc = store(op, hold, ino);

	return rc || ino->holders == before ? rc : inode_put(op->ns->st, ino);
}

/* It may have a row of before, and needs one if the file has no name. */
static int declare(struct ns_op *op, struct hold *hold, struct inode *ino)
{
	hold->stored = true;
	return ino->nlink ? 0 : record(op, hold, ino);
}

int ns_declare(struct ns_op *op, const struct ns_hold *what)
{
	struct holds *h = &op->ns->holds;
	struct hold *hold = hold_find(h, op->session, what->open);
	struct hold row = { .key = { op->session, what->open }, .told = true };
	struct inode ino;
	int rc;

	if (!holds_given(op, what->open) ||
	    (hold && (!hold->of || hold->of->handle != what->handle)))
		return 0;
	rc = inode_get(op->ns->st, what->handle, &ino);
	if (rc || !S_ISREG(ino.mode))
		return rc == -ENOENT ? 0 : rc;
	if (hold)
		return declare(op, hold, &ino);
	rc = hold_add(h, op->session, what->handle, what->open, &hold);
	if (rc == -ENOSPC && !store_room(op->ns->st))
		return record(op, &row, &ino);
	if (!rc)
		hold->told = true;
	return rc ? rc : declare(op, hold, &ino);
}

void ns_declared(struct ns *ns, uint64_t session)
{
	struct holder *s = holder_find(&ns->holds, session);
	struct hold *hold, *next;

	if (!s || !s->missing)
		return;
	for (hold = LIST_FIRST(&s->holds); hold; hold = next) {
		next = LIST_NEXT(hold, mine);
		if (!hold->of)
			hold_free(&ns->holds, hold);
	}
	s->missing = false;
	ns->holds.missing--;
	holder_tidy(&ns->holds, s);
}

uint32_t ns_held(struct ns *ns, uint64_t session)
{
	struct holder *s = holder_find(&ns->holds, session);
	struct hold *hold;
	uint32_t n = 0;

	if (s)
		LIST_FOREACH(hold, &s->holds, mine)
			n += !hold->stored;
	return n;
}

void ns_forget_holds(struct ns *ns, uint64_t session)
{
	struct holder *s = holder_find(&ns->holds, session);
	struct hold *hold;

	if (!s)
		return;
	ns->holds.missing -= s->missing;
	s->missing = true; /* it stays until we are done */
	while ((hold = LIST_FIRST(&s->holds)))
		hold_free(&ns->holds, hold);
	s->missing = false;
	holder_tidy(&ns->holds, s);
}

void holds_close(struct ns *ns)
{
	struct holder *s, *next;

	HASH_ITER(hh, ns->holds.sessions, s, next)
		ns_forget_holds(ns, s->session);
	ns->holds = (struct holds){ 0 };
}
