/* SPDX-License-Identifier: BSD-2-Clause */
/* session_rights.c - see session_rights.h. */
#include "server/state/session_rights.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SETS_MAX (SESSION_RIGHTS_MAX / SESSION_RIGHTS_WAYS)
#define SETS_MIN 4u

/* Handles are random, so the sets fill evenly. */
static struct object_rights *set_of(const struct session_rights *v,
				    uint64_t handle)
{
	uint64_t h = handle * UINT64_C(0x9e3779b97f4a7c15);

	return &v->entry[((uint32_t)(h >> 32) & (v->sets - 1)) *
			 SESSION_RIGHTS_WAYS];
}

/* handle 0: finds a free entry. */
static struct object_rights *find_in_set(struct object_rights *set,
					 uint64_t handle)
{
	unsigned int i;

	for (i = 0; i < SESSION_RIGHTS_WAYS; i++)
		if (set[i].handle == handle)
			return &set[i];
	return NULL;
}

uint64_t session_rights_until(const struct session_rights *v, uint64_t handle,
			      unsigned int rights)
{
	const struct object_rights *at = NULL;
	uint64_t until = 0;
	unsigned int i;

	if (v->sets && handle)
		at = find_in_set(set_of(v, handle), handle);
	for (i = 0; at && i < SESSION_RIGHTS_KINDS; i++)
		if (rights >> i & 1 && at->until[i] > until)
			until = at->until[i];
	return until;
}

/* Doubles the number of sets.  Each set splits in two, so all entries fit. */
static int double_sets(struct session_rights *v)
{
	const uint32_t sets = v->sets ? 2 * v->sets : SETS_MIN;
	struct session_rights more = { .sets = sets,
				       .turn = v->turn,
				       .era = v->era,
				       .dropped = v->dropped };
	uint32_t i;

	more.entry = calloc(sets * SESSION_RIGHTS_WAYS, sizeof(*more.entry));
	if (!more.entry)
		return -ENOMEM;
	for (i = 0; i < v->sets * SESSION_RIGHTS_WAYS; i++)
		if (v->entry[i].handle)
			*find_in_set(set_of(&more, v->entry[i].handle),
				     0) = v->entry[i];
	free(v->entry);
	*v = more;
	return 0;
}

static struct object_rights *drop_one(struct session_rights *v, uint64_t handle)
{
	struct object_rights *at = set_of(v, handle) +
				   v->turn++ % SESSION_RIGHTS_WAYS;

	memset(at, 0, sizeof(*at));
	v->dropped++;
	return at;
}

/* NULL: no memory for the first sets. */
static struct object_rights *get_entry(struct session_rights *v,
				       uint64_t handle)
{
	struct object_rights *at = NULL;

	if (v->sets)
		at = find_in_set(set_of(v, handle), handle);
	while (!at) {
		if (v->sets)
			at = find_in_set(set_of(v, handle), 0);
		if (at || v->sets == SETS_MAX || double_sets(v))
			break;
	}
	return at || !v->sets ? at : drop_one(v, handle);
}

int session_rights_add(struct session_rights *v, uint64_t handle,
		       unsigned int rights, uint64_t until)
{
	struct object_rights *at = get_entry(v, handle);
	unsigned int i;

	if (!at)
		return -ENOMEM;
	at->handle = handle;
	for (i = 0; i < SESSION_RIGHTS_KINDS; i++)
		if (rights >> i & 1 && until > at->until[i])
			at->until[i] = until;
	return 0;
}

void session_rights_set_era(struct session_rights *v, uint32_t era)
{
	if (v->era == era)
		return;
	free(v->entry);
	*v = (struct session_rights){ .era = era, .dropped = v->dropped + 1 };
}

void session_rights_free(struct session_rights *v)
{
	free(v->entry);
	*v = (struct session_rights){ 0 };
}
