/* SPDX-License-Identifier: BSD-2-Clause */
/* object_list.c - the objects of all iods, and the files that they belong to. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mgr/fsck/fsck.h"

static int add_object(struct object_list *list, uint64_t handle, uint32_t iod)
{
	int rc = array_reserve(&list->o, &list->room, list->n,
			       sizeof(list->o[0]));

	if (!rc)
		list->o[list->n++] = (struct stored_object){ handle, iod };
	return rc;
}

static int read_iod(struct fsck *f, uint32_t iod, struct object_list *list)
{
	struct wire_walk body = { 0 };
	struct fsck_bytes b = { &body, sizeof(body) };
	struct wire_walk_rep rep;
	struct fsck_reply reply;
	uint64_t handle;
	int rc = 0;

	while (!rc && le32toh(body.place) != WIRE_PLACE_END) {
		rc = fsck_call(f, f->iod[iod], WIRE_OBJECTS, &b, NULL, &reply);
		if (rc)
			break;
		memcpy(&rep, reply.body, sizeof(rep));
		for (uint32_t i = 0; !rc && i < le32toh(rep.n); i++) {
			memcpy(&handle, reply.tail + 8 * i, 8);
			rc = add_object(list, le64toh(handle), iod);
		}
		body.place = rep.place;
		body.after = rep.after;
	}
	if (rc)
		log_error(f->log, "%s: cannot list its objects: %s",
			  rpc_peer_name(f->iod[iod]), strerror(-rc));
	return rc;
}

int object_list_read(struct fsck *f, struct object_list *list)
{
	int rc = 0;

	for (uint32_t i = 0; !rc && i < f->conf.niods; i++)
		rc = read_iod(f, i, list);
	f->objects = list->n;
	return rc;
}

static bool is_stray(const struct fsck *f, const struct dist *dist,
		     uint32_t iod)
{
	const struct ring ring = ring_of_iods(f->conf.niods);

	return !copyset_has(iod, dist, &ring);
}

/* The walk found no name: the file is removed and still open, or new, or lost. */
static int check_unnamed(struct fsck *f, const struct stored_object *o)
{
	struct problem p = { .handle = o->handle, .iod = o->iod };
	struct wire_attr attr;
	struct dist dist;
	int rc = fsck_get_attr(f, o->handle, &attr);

	if (rc == -ESTALE) {
		p.kind = ORPHAN;
		return problem_list_add(&f->problems, &p);
	}
	if (rc)
		return rc;
	dist = fsck_dist(&attr);
	if (is_stray(f, &dist, o->iod)) {
		p.kind = STRAY;
		return problem_list_add(&f->problems, &p);
	}
	if (!attr.nlink || (int64_t)le64toh(attr.ctime) >= f->start_time)
		return 0;
	p.kind = NAMELESS;
	p.iod = 0;
	return problem_list_add(&f->problems, &p);
}

int object_list_check(struct fsck *f, const struct object_list *list)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < list->n; i++) {
		const struct stored_object *o = &list->o[i];
		const struct walk_file *k = name_walk_find(f, o->handle);
		struct problem p = { .kind = STRAY,
				     .handle = o->handle,
				     .iod = o->iod };

		if (!k)
			rc = check_unnamed(f, o);
		else if (is_stray(f, &k->dist, o->iod))
			rc = problem_list_add(&f->problems, &p);
	}
	return rc;
}
