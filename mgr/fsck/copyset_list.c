/* SPDX-License-Identifier: BSD-2-Clause */
/* copyset_list.c - the rings and copysets of the manager, and which iods store a file. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/dist/copyset_wire.h"
#include "mgr/fsck/fsck.h"

bool copyset_list_is_needed(const struct fsck *f)
{
	return rpc_peer_features(f->mgr) & WIRE_FT_COPIES;
}

static int add_rings(struct copyset_list *l, const struct wire_ring *from,
		     uint32_t n)
{
	if (n > WIRE_RINGS_MAX)
		return -EPROTO;
	l->nrings = n;
	for (uint32_t i = 0; i < n; i++)
		l->ring[i] = ring_from_wire(&from[i]);
	return 0;
}

static int add_sets(struct copyset_list *l, const struct wire_copyset *from,
		    uint32_t n)
{
	int rc = 0;

	for (uint32_t i = 0; !rc && i < n; i++) {
		rc = array_reserve(&l->set, &l->room, l->n, sizeof(l->set[0]));
		if (!rc)
			l->set[l->n++] = copyset_from_wire(&from[i]);
	}
	return rc;
}

/* Each part has all rings. */
static int read_part(struct fsck *f, struct copyset_list *l, le32 *from)
{
	const struct wire_copysets body = { .from = *from };
	struct fsck_bytes b = { &body, sizeof(body) };
	struct wire_copysets_rep rep;
	struct fsck_reply reply;
	uint32_t rings;
	int rc = fsck_call(f, f->mgr, WIRE_COPYSETS, &b, NULL, &reply);

	if (rc)
		return rc;
	memcpy(&rep, reply.body, sizeof(rep));
	rings = le32toh(rep.rings);
	rc = add_rings(l, (const void *)reply.tail, rings);
	if (!rc)
		rc = add_sets(l,
			      (const void *)(reply.tail +
					     rings * sizeof(struct wire_ring)),
			      le32toh(rep.n));
	*from = rep.next;
	return rc;
}

int copyset_list_read(struct fsck *f)
{
	le32 from = 0;
	int rc = 0;

	copyset_list_free(f);
	if (!copyset_list_is_needed(f))
		return 0;
	do
		rc = read_part(f, &f->copysets, &from);
	while (!rc && from);
	if (rc)
		log_error(f->log, "%s: cannot read its copysets: %s",
			  rpc_peer_name(f->mgr), strerror(-rc));
	return rc;
}

void copyset_list_free(struct fsck *f)
{
	free(f->copysets.set);
	f->copysets = (struct copyset_list){ 0 };
}

static int compare_ids(const void *id, const void *set)
{
	uint32_t a = *(const uint32_t *)id;
	uint32_t b = ((const struct copyset *)set)->id;

	return a < b ? -1 : a > b;
}

/* NULL: it is newer than the list. */
static const struct ring *find_ring(const struct copyset_list *l, uint32_t id)
{
	for (uint32_t i = 0; i < l->nrings; i++)
		if (l->ring[i].id == id)
			return &l->ring[i];
	return NULL;
}

static bool is_member(const struct copyset_list *l, uint32_t id, uint32_t iod)
{
	const struct copyset *set = l->n ? bsearch(&id, l->set, l->n,
						   sizeof(l->set[0]),
						   compare_ids)
					 : NULL;

	return set && copyset_has_member(set, iod);
}

bool copyset_list_has(const struct fsck *f, const struct dist *dist,
		      const struct stored_object *o)
{
	const struct ring all = ring_of_iods(f->conf.niods);
	const struct ring *ring;

	if (!dist->ring)
		return !o->copyset && copyset_has(o->iod, dist, &all);
	ring = find_ring(&f->copysets, dist->ring);
	return !ring || (copyset_has(o->copyset, dist, ring) &&
			 is_member(&f->copysets, o->copyset, o->iod));
}
