/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * check_size.c - sizes of files that are truncated.  A client computes a size from the replies of
 * several servers, so it is no register.  While others write, every size is correct between the end
 * of the acknowledged writes and the end of those that have begun.  The check enforces these
 * bounds:
 *
 * - The size is at least the end of every write (or the size of every truncation) that was
 *   acknowledged before the query began.  Exception: a later truncation to a smaller size.
 * - A call made the size: a write up to this end or beyond (its parts are on several servers), or a
 *   truncation to it.  The call had begun before the reply, and no smaller truncation surely
 *   removed its bytes.
 */
#include <errno.h>
#include <stdlib.h>

#include "tests/history/history.h"

struct change {
	const struct call *call;
	uint32_t end;
	bool cut;
};

struct sizes {
	struct change *item;
	size_t n;
};

static bool change_of(const struct call *c, struct change *ch)
{
	const struct op *op = c->op;

	*ch = (struct change){ .call = c, .cut = op->kind == OP_TRUNCATE };
	ch->end = op->block + (ch->cut ? 0 : op->count);
	return op->kind == OP_WRITE || ch->cut;
}

/* Returns true if a truncation to a smaller size can have followed it before b began. */
static bool may_be_cut(const struct sizes *s, const struct change *ch,
		       const struct call *look)
{
	const struct change *c;
	size_t i;

	for (i = 0; i < s->n; i++) {
		c = &s->item[i];
		if (c->call->begin > look->end)
			break;
		if (c->cut && c != ch && c->end < ch->end &&
		    c->call->end > ch->call->begin)
			return true;
	}
	return false;
}

/* Number of changes that had begun at a time. */
static size_t begun(const struct sizes *s, uint64_t at)
{
	size_t low = 0, high = s->n, mid;

	while (low < high) {
		mid = (low + high) / 2;
		if (s->item[mid].call->begin <= at)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Returns the truncation that surely removed the bytes before the query began, or NULL. */
static const struct change *surely_cut(const struct sizes *s,
				       const struct change *ch, uint32_t size,
				       const struct call *look)
{
	const struct change *c;
	size_t i;

	for (i = begun(s, look->begin); i--;) {
		c = &s->item[i];
		if (c->call->begin <= ch->call->end)
			break;
		if (c->cut && c->call->outcome == SURE && c->end < size &&
		    c->call->end < look->begin)
			return c;
	}
	return NULL;
}

static bool too_small_for(const struct sizes *s, const struct change *c,
			  const struct call *look)
{
	return c->call->outcome == SURE &&
	       c->end > (uint32_t)look->op->result &&
	       c->call->end < look->begin && !may_be_cut(s, c, look);
}

/* Bytes that a truncation to at most this size may have removed need not be there. */
static void too_small(struct history *h, const struct sizes *s,
		      const struct call *look)
{
	const struct change *c;
	size_t i;

	for (i = begun(s, look->end); i--;) {
		c = &s->item[i];
		if (c->cut && c->end <= (uint32_t)look->op->result)
			return;
		if (!too_small_for(s, c, look))
			continue;
		violation(h, "a size of %d blocks: too small",
			  look->op->result);
		explain(h, "size", look);
		explain(h, "answered", c->call);
		return;
	}
}

/*
 * A failed truncation may have been executed at some servers only; so may one in flight during the
 * query.
 */
static bool cut_in_part(const struct sizes *s, const struct call *look)
{
	const struct change *c;
	size_t i;

	for (i = 0; i < s->n; i++) {
		c = &s->item[i];
		if (c->cut && c->call->begin < look->end &&
		    (c->call->outcome == MAYBE || c->call->end > look->begin))
			return true;
	}
	return false;
}

/* Returns whether c can make this size: the parts of a write are executed one by one. */
static bool makes(const struct sizes *s, const struct change *c, uint32_t size,
		  const struct call *look)
{
	if (c->cut)
		return c->end == size ||
		       (c->end > size && cut_in_part(s, look));
	return c->call->op->block < size && size <= c->end;
}

/* Finds the call that can have made the size.  *cut is a truncation that removed all such sizes. */
static bool made(const struct sizes *s, const struct call *look,
		 const struct change **maker, const struct change **cut)
{
	uint32_t size = (uint32_t)look->op->result;
	const struct change *c;
	size_t i;

	*maker = *cut = NULL;
	for (i = begun(s, look->end); i--;) {
		c = &s->item[i];
		if (!makes(s, c, size, look))
			continue;
		*maker = c;
		*cut = surely_cut(s, c, size, look);
		if (!*cut)
			return true;
	}
	return !size; /* the initial size */
}

static void not_made(struct history *h, const struct sizes *s,
		     const struct call *look)
{
	const struct change *maker, *cut;

	if (made(s, look, &maker, &cut))
		return;
	violation(h, "a size of %d blocks: nobody made it, or it was cut",
		  look->op->result);
	explain(h, "size", look);
	if (maker)
		explain(h, "made", maker->call);
	if (cut)
		explain(h, "cut", cut->call);
}

void check_size(struct history *h, unsigned int object)
{
	struct sizes s = { .item = calloc(h->n + 1, sizeof(*s.item)) };
	unsigned int before = h->violations;
	const struct call *c;
	size_t i;

	if (!s.item) {
		violation(h, "cannot tell: no memory");
		return;
	}
	for (i = history_next(h, 0, OBJ_CUT, object); i < h->n;
	     i = history_next(h, i + 1, OBJ_CUT, object))
		s.n += change_of(&h->call[i], &s.item[s.n]);
	for (i = history_next(h, 0, OBJ_CUT, object); i < h->n;
	     i = history_next(h, i + 1, OBJ_CUT, object)) {
		c = &h->call[i];
		if (c->op->kind != OP_SIZE || c->outcome)
			continue;
		too_small(h, &s, c);
		not_made(h, &s, c);
		if (h->violations > before)
			break;
	}
	free(s.item);
}
