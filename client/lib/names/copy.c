/* SPDX-License-Identifier: BSD-2-Clause */
/* copy.c - COPY at all iods of a file. */
#include "client/lib/names/copy.h"

#include "client/lib/session/fan.h"

bool copy_fits(const struct copy_range *r)
{
	uint64_t apart = r->off > r->src ? r->off - r->src : r->src - r->off;

	return r->dist->ssize == r->from_dist->ssize &&
	       r->dist->pcount == r->from_dist->pcount &&
	       apart % r->dist->ssize == 0;
}

struct copying {
	const struct copy_range *r;
	uint32_t niods;
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
	body->iod = htole32(dist_iod(r->from_dist, c->niods,
				     dist_server(r->from_dist, src)));
}

int copy_ask(struct session *s, const struct target *t, void *arg)
{
	const struct copy_range *r = arg;
	struct copying c = { r, s->niods };
	struct wire_copy body = { .handle = htole64(t->handle),
				  .from = htole64(r->from),
				  .flags = htole32(r->flags) };
	struct fan fan = { .s = s,
			   .dist = r->dist,
			   .skip = copy_has_no_share,
			   .aim = copy_aim,
			   .arg = &c,
			   .once = true };

	return fan_ask(&fan, WIRE_COPY, &body, sizeof(body));
}
