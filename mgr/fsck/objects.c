/* SPDX-License-Identifier: BSD-2-Clause */
/* objects.c - what the iods keep, and whose it is. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mgr/fsck/fsck.h"

static int add(struct objects *list, uint64_t handle, uint32_t iod)
{
	int rc = fsck_grow(&list->o, &list->room, list->n, sizeof(list->o[0]));

	if (!rc)
		list->o[list->n++] = (struct object){ handle, iod };
	return rc;
}

static int list_one(struct fsck *f, uint32_t iod, struct objects *list)
{
	struct wire_walk body = { 0 };
	struct piece b = { &body, sizeof(body) };
	struct wire_walk_rep rep;
	struct answer answer;
	uint64_t handle;
	int rc = 0;

	while (!rc && le32toh(body.place) != WIRE_PLACE_END) {
		rc = fsck_ask(f, f->iod[iod], WIRE_OBJECTS, &b, NULL, &answer);
		if (rc)
			break;
		memcpy(&rep, answer.body, sizeof(rep));
		for (uint32_t i = 0; !rc && i < le32toh(rep.n); i++) {
			memcpy(&handle, answer.tail + 8 * i, 8);
			rc = add(list, le64toh(handle), iod);
		}
		body.place = rep.place;
		body.after = rep.after;
	}
	if (rc)
		log_error(f->log, "%s: which objects it has: %s",
			  rpc_peer_name(f->iod[iod]), strerror(-rc));
	return rc;
}

int objects_list(struct fsck *f, struct objects *list)
{
	int rc = 0;

	for (uint32_t i = 0; !rc && i < f->conf.niods; i++)
		rc = list_one(f, i, list);
	f->objects = list->n;
	return rc;
}

static bool stray(const struct fsck *f, uint32_t base, uint32_t pcount,
		  uint32_t iod)
{
	uint32_t n = f->conf.niods;

	return (iod + n - base % n) % n >= pcount;
}

/* It has no name: removed and still open, or made meanwhile, or lost. */
static int judge_unknown(struct fsck *f, const struct object *o)
{
	struct problem p = { .handle = o->handle, .iod = o->iod };
	struct wire_attr attr;
	int rc = fsck_attr(f, o->handle, &attr);

	if (rc == -ESTALE) {
		p.kind = ORPHAN;
		return fsck_found(f, &p);
	}
	if (rc)
		return rc;
	if (stray(f, le32toh(attr.dist.base), le32toh(attr.dist.pcount),
		  o->iod)) {
		p.kind = STRAY;
		return fsck_found(f, &p);
	}
	if (!attr.nlink || (int64_t)le64toh(attr.ctime) >= f->started)
		return 0;
	p.kind = NAMELESS;
	p.iod = 0;
	return fsck_found(f, &p);
}

int objects_judge(struct fsck *f, const struct objects *list)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < list->n; i++) {
		const struct object *o = &list->o[i];
		const struct known *k = known_find(f, o->handle);
		struct problem p = { .kind = STRAY,
				     .handle = o->handle,
				     .iod = o->iod };

		if (!k)
			rc = judge_unknown(f, o);
		else if (stray(f, k->base, k->pcount, o->iod))
			rc = fsck_found(f, &p);
	}
	return rc;
}
