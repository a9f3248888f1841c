/* SPDX-License-Identifier: BSD-2-Clause */
/* object_list.c - the objects of all iods, and the files that they belong to. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "mgr/fsck/fsck.h"

static int add_object(struct object_list *list, const struct stored_object *o)
{
	int rc = array_reserve(&list->o, &list->room, list->n,
			       sizeof(list->o[0]));

	if (!rc)
		list->o[list->n++] = *o;
	return rc;
}

/* Adds the objects of a reply.  *last: the copyset of the last one. */
static int add_objects(struct object_list *list, uint32_t iod, bool keys,
		       const struct fsck_reply *reply, uint32_t *last)
{
	const le64 *number = (const void *)reply->tail;
	const unsigned int each = keys ? 2 : 1; /* numbers of an object */
	struct wire_walk_rep rep;
	uint32_t n;
	int rc = 0;

	memcpy(&rep, reply->body, sizeof(rep));
	n = le32toh(rep.n);
	if (n % each)
		return -EPROTO;
	for (uint32_t i = 0; !rc && i < n; i += each) {
		const struct stored_object o = {
			.handle = le64toh(number[i]),
			.copyset = keys ? (uint32_t)le64toh(number[i + 1]) : 0,
			.iod = iod
		};

		*last = o.copyset;
		rc = add_object(list, &o);
	}
	return rc;
}

static int read_objects(struct fsck *f, uint32_t iod, bool keys,
			struct object_list *list)
{
	struct wire_walk body = { .keys = htole32(keys ? WIRE_WALK_KEYS : 0) };
	struct fsck_bytes b = { &body, sizeof(body) };
	uint32_t last = 0;
	int rc = 0;

	while (!rc && le32toh(body.place) != WIRE_PLACE_END) {
		struct wire_walk_rep rep;
		struct fsck_reply reply;

		rc = fsck_call(f, f->iod[iod], WIRE_OBJECTS, &b, NULL, &reply);
		if (rc)
			break;
		rc = add_objects(list, iod, keys, &reply, &last);
		memcpy(&rep, reply.body, sizeof(rep));
		body.place = rep.place;
		body.after = rep.after;
		if (keys)
			body.keys = htole32(WIRE_WALK_KEYS |
					    (rep.after ? last : 0));
	}
	return rc;
}

/* The features of the iod are known after the first call. */
static int read_iod(struct fsck *f, uint32_t iod, struct object_list *list)
{
	bool keys = copyset_list_is_needed(f);
	int rc = 0;

	if (keys)
		rc = fsck_call(f, f->iod[iod], WIRE_PING, NULL, NULL, NULL);
	keys = keys && rpc_peer_features(f->iod[iod]) & WIRE_FT_COPIES;
	if (!rc)
		rc = read_objects(f, iod, keys, list);
	if (rc)
		log_error(f->log, "%s: cannot list its objects: %s",
			  rpc_peer_name(f->iod[iod]), strerror(-rc));
	return rc;
}

int object_list_read(struct fsck *f, struct object_list *list)
{
	int rc = fsck_call(f, f->mgr, WIRE_PING, NULL, NULL, NULL);

	for (uint32_t i = 0; !rc && i < f->conf.niods; i++)
		rc = read_iod(f, i, list);
	f->objects = list->n;
	return rc;
}

/* The walk found no name: the file is removed and still open, or new, or lost. */
static int check_unnamed(struct fsck *f, const struct stored_object *o)
{
	struct problem p = { .handle = o->handle,
			     .copyset = o->copyset,
			     .iod = o->iod };
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
	if (!copyset_list_has(f, &dist, o)) {
		p.kind = STRAY;
		return problem_list_add(&f->problems, &p);
	}
	if (!attr.nlink || (int64_t)le64toh(attr.ctime) >= f->start_time)
		return 0;
	p.kind = NAMELESS;
	p.iod = p.copyset = 0;
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
				     .copyset = o->copyset,
				     .iod = o->iod };

		if (!k)
			rc = check_unnamed(f, o);
		else if (!copyset_list_has(f, &k->dist, o))
			rc = problem_list_add(&f->problems, &p);
	}
	return rc;
}
