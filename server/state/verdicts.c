/* SPDX-License-Identifier: BSD-2-Clause */
/* verdicts.c - see verdicts.h. */
#include "server/state/verdicts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SETS_MAX (VERDICTS_MAX / VERDICTS_WAYS)
#define SETS_MIN 4u

/* Handles are random, so the sets fill evenly. */
static struct verdict *set_of(const struct verdicts *v, uint64_t handle)
{
	uint64_t h = handle * UINT64_C(0x9e3779b97f4a7c15);

	return &v->v[((uint32_t)(h >> 32) & (v->sets - 1)) * VERDICTS_WAYS];
}

/* handle 0: finds a free place. */
static struct verdict *in_set(struct verdict *set, uint64_t handle)
{
	unsigned int i;

	for (i = 0; i < VERDICTS_WAYS; i++)
		if (set[i].handle == handle)
			return &set[i];
	return NULL;
}

uint64_t verdicts_until(const struct verdicts *v, uint64_t handle,
			unsigned int rights)
{
	const struct verdict *at = NULL;
	uint64_t until = 0;
	unsigned int i;

	if (v->sets && handle)
		at = in_set(set_of(v, handle), handle);
	for (i = 0; at && i < VERDICTS_RIGHTS; i++)
		if (rights >> i & 1 && at->until[i] > until)
			until = at->until[i];
	return until;
}

/* Doubles the number of sets.  Each set splits in two, so all verdicts fit. */
static int grow(struct verdicts *v)
{
	const uint32_t sets = v->sets ? 2 * v->sets : SETS_MIN;
	struct verdicts more = { .sets = sets,
				 .turn = v->turn,
				 .era = v->era,
				 .dropped = v->dropped };
	uint32_t i;

	more.v = calloc(sets * VERDICTS_WAYS, sizeof(*more.v));
	if (!more.v)
		return -ENOMEM;
	for (i = 0; i < v->sets * VERDICTS_WAYS; i++)
		if (v->v[i].handle)
			*in_set(set_of(&more, v->v[i].handle), 0) = v->v[i];
	free(v->v);
	*v = more;
	return 0;
}

static struct verdict *drop_one(struct verdicts *v, uint64_t handle)
{
	struct verdict *at = set_of(v, handle) + v->turn++ % VERDICTS_WAYS;

	memset(at, 0, sizeof(*at));
	v->dropped++;
	return at;
}

/* NULL: no memory for the first sets. */
static struct verdict *place(struct verdicts *v, uint64_t handle)
{
	struct verdict *at = NULL;

	if (v->sets)
		at = in_set(set_of(v, handle), handle);
	while (!at) {
		if (v->sets)
			at = in_set(set_of(v, handle), 0);
		if (at || v->sets == SETS_MAX || grow(v))
			break;
	}
	return at || !v->sets ? at : drop_one(v, handle);
}

int verdicts_add(struct verdicts *v, uint64_t handle, unsigned int rights,
		 uint64_t until)
{
	struct verdict *at = place(v, handle);
	unsigned int i;

	if (!at)
		return -ENOMEM;
	at->handle = handle;
	for (i = 0; i < VERDICTS_RIGHTS; i++)
		if (rights >> i & 1 && until > at->until[i])
			at->until[i] = until;
	return 0;
}

void verdicts_keep(struct verdicts *v, uint32_t era)
{
	if (v->era == era)
		return;
	free(v->v);
	*v = (struct verdicts){ .era = era, .dropped = v->dropped + 1 };
}

void verdicts_free(struct verdicts *v)
{
	free(v->v);
	*v = (struct verdicts){ 0 };
}
