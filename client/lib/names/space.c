/* SPDX-License-Identifier: BSD-2-Clause */
/* space.c - FALLOCATE, SEEK and COPY at all iods of a file. */
#include "client/lib/names/space.h"

#include <errno.h>

#include "client/lib/session/broadcast.h"

static void *body_of(void *msg)
{
	return (uint8_t *)msg + sizeof(struct wire_hdr);
}

/* ---- FALLOCATE ---- */

static bool has_none(void *arg, uint32_t k)
{
	const struct space_range *r = arg;
	uint64_t local;

	return !dist_share(r->dist, k, r->off, r->len, &local);
}

static void aim_range(void *arg, uint32_t k, void *msg)
{
	const struct space_range *r = arg;
	struct wire_fallocate *body = body_of(msg);
	uint64_t local;

	body->len = htole64(dist_share(r->dist, k, r->off, r->len, &local));
	body->off = htole64(local);
}

static int range_allocate(struct session *s, uint64_t handle,
			  struct space_range *r)
{
	struct wire_fallocate body = { .handle = htole64(handle),
				       .flags = htole32(r->flags) };
	struct broadcast broadcast = { .s = s,
				       .dist = r->dist,
				       .skip = has_none,
				       .aim = aim_range,
				       .arg = r,
				       .once = true };

	return broadcast_body(&broadcast, WIRE_FALLOCATE, &body, sizeof(body));
}

int space_allocate(struct session *s, const struct target *t, void *arg)
{
	const struct space_range *r = arg;
	struct space_range all = *r, last = *r;
	int rc;

	all.flags |= WIRE_FA_KEEP;
	rc = range_allocate(s, t->handle, &all);
	if (rc || r->flags & WIRE_FA_KEEP)
		return rc;
	/* the space is allocated, so this step cannot fail for lack of space */
	last.off += last.len - 1;
	last.len = 1;
	last.flags = 0;
	rc = range_allocate(s, t->handle, &last);
	/* the range was changed, so the next session must not repeat this */
	return session_is_over(rc) ? -ECONNABORTED : rc;
}

/* ---- SEEK ---- */

/* The first local byte of server k that is not before off in the file. */
static uint64_t local_of(const struct space_seek *seek, uint32_t k)
{
	return dist_local_size(seek->dist, k, seek->off);
}

static void aim_seek(void *arg, uint32_t k, void *msg)
{
	struct wire_seek *body = body_of(msg);

	body->off = htole64(local_of(arg, k));
}

static int take_seek(void *arg, uint32_t k, const struct wire_msg *reply)
{
	const struct wire_seek_rep *rep = reply->body;
	struct space_seek *seek = arg;
	uint64_t local = le64toh(rep->off), at;

	if (local < local_of(seek, k))
		return -EPROTO;
	at = local < INT64_MAX ? dist_logical(seek->dist, k, local) : INT64_MAX;
	if (at < seek->found)
		seek->found = at;
	return 0;
}

int space_seek(struct session *s, const struct target *t, void *arg)
{
	struct space_seek *seek = arg;
	struct wire_seek body = {
		.handle = htole64(t->handle),
		.flags = htole32(seek->hole ? WIRE_SK_HOLE : 0),
	};
	struct broadcast broadcast = { .s = s,
				       .dist = seek->dist,
				       .aim = aim_seek,
				       .take = take_seek,
				       .arg = seek };

	seek->found = INT64_MAX;
	return broadcast_body(&broadcast, WIRE_SEEK, &body, sizeof(body));
}

bool copy_fits(const struct copy_range *r)
{
	uint64_t apart = r->off > r->src ? r->off - r->src : r->src - r->off;

	return r->dist->ssize == r->from_dist->ssize &&
	       r->dist->pcount == r->from_dist->pcount &&
	       apart % r->dist->ssize == 0;
}

struct copying {
	const struct copy_range *r;
	struct ring from_ring;
};

static bool copy_has_no_share(void *arg, uint32_t k)
{
	const struct copy_range *r = ((const struct copying *)arg)->r;
	uint64_t local;

	return !dist_share(r->dist, k, r->off, r->len, &local);
}

/* Fills in the source of server k's share. */
static void copy_aim(void *arg, uint32_t k, void *msg)
{
	const struct copying *c = arg;
	const struct copy_range *r = c->r;
	struct wire_copy *body = (void *)((uint8_t *)msg +
					  sizeof(struct wire_hdr));
	uint64_t local, src;

	body->len = htole64(dist_share(r->dist, k, r->off, r->len, &local));
	src = dist_logical(r->dist, k, local) - r->off + r->src;
	body->off = htole64(local);
	body->src = htole64(dist_local(r->from_dist, src));
	body->iod = htole32(copyset_of(r->from_dist, &c->from_ring,
				       dist_server(r->from_dist, src)));
}

int copy_ask(struct session *s, const struct target *t, void *arg)
{
	const struct copy_range *r = arg;
	struct copying c = { .r = r };
	struct wire_copy body = { .handle = htole64(t->handle),
				  .from = htole64(r->from),
				  .flags = htole32(r->flags) };
	struct broadcast broadcast = { .s = s,
				       .dist = r->dist,
				       .skip = copy_has_no_share,
				       .aim = copy_aim,
				       .arg = &c,
				       .once = true };

	int rc = copysets_learn(s, r->from_dist, &c.from_ring);

	return rc ? rc
		  : broadcast_body(&broadcast, WIRE_COPY, &body, sizeof(body));
}
