/* SPDX-License-Identifier: BSD-2-Clause */
/* copyset_ops.c - COPYSETS: rings and copysets. */
#include <errno.h>

#include "common/dist/copyset_wire.h"
#include "mgr/copyset/copyset_design.h"
#include "mgr/copyset/copyset_rows.h"
#include "mgr/op/mgr_ops.h"

_Static_assert(RINGS_MAX == WIRE_RINGS_MAX, "rings");
_Static_assert(COPYSET_ROUNDS_MAX *COPYSET_FIRST == COPYSET_RING_MAX,
	       "copysets of a ring");

/* Returns the number of rings or -errno. */
static int read_rings(struct store *st, struct wire_ring to[RINGS_MAX])
{
	struct ring ring;
	uint32_t n;
	int rc = 0;

	for (n = 0; n < RINGS_MAX && !(rc = ring_get(st, n, &ring)); n++)
		to[n] = ring_to_wire(&ring);
	return rc && rc != -ENOENT ? rc : (int)n;
}

/* Rings and copysets after the revision `since`. */
static int put_changes(struct mgr_op *op, uint64_t since,
		       struct wire_copysets_rep *rep)
{
	const struct wire_copysets *body = op->rpc->msg.body;
	struct copyset set[WIRE_COPYSETS_MAX];
	struct wire_ring ring[RINGS_MAX];
	uint32_t from = le32toh(body->from);
	int n, rings = read_rings(op->mgr->st, ring);

	if (rings < 0)
		return rings;
	n = copyset_read_changed(op->mgr->st, since, &from, set,
				 WIRE_COPYSETS_MAX);
	if (n < 0)
		return n;
	rep->next = htole32(from);
	rep->rings = htole32((uint32_t)rings);
	rep->n = htole32((uint32_t)n);
	wire_put(op->out, rep, sizeof(*rep));
	wire_put(op->out, ring, (size_t)rings * sizeof(ring[0]));
	for (int i = 0; i < n; i++) {
		struct wire_copyset to = copyset_to_wire(&set[i]);

		wire_put(op->out, &to, sizeof(to));
	}
	return 0;
}

/*
 * A caller may know a revision that this database never had: an older copy of it was restored.
 * Then it gets all copysets.
 */
int op_copysets(struct mgr_op *op)
{
	const struct wire_copysets *body = op->rpc->msg.body;
	uint64_t since = le64toh(body->since), revision;
	struct wire_copysets_rep rep = { 0 };
	int rc = copyset_revision(op->mgr->st, &revision);

	if (rc)
		return rc;
	rep.revision = htole64(revision);
	if (since && since == revision) {
		wire_put(op->out, &rep, sizeof(rep));
		return 0;
	}
	return put_changes(op, since > revision ? 0 : since, &rep);
}
