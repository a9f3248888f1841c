/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mgr_link.c - LINK2 and UNLINK2, with the fallback for managers of earlier releases;
 * READLINK.
 */
#include <errno.h>

#include "client/lib/names/mgr_int.h"

static int link_call(struct session *s, const struct target *from,
		     const struct target *to, struct wire_link2 body,
		     unsigned int *which, struct attr *attr)
{
	struct mgr_attr_arg arg = { s, attr };
	struct ask c;

	body.dir2 = htole64(to->handle);
	body.path1_len = htole32((uint32_t)strlen(from->path));
	body.path2_len = htole32((uint32_t)strlen(to->path));
	mgr_begin(&c, s, from, &body, sizeof(body));
	ask_put(&c, to->path, strlen(to->path));
	c.which = which;
	c.once = true;
	return ask_run(&c, WIRE_LINK2, mgr_take_attr_rep, &arg);
}

int mgr_link_attr(struct session *s, const struct target *from,
		  const struct target *to, unsigned int *which,
		  struct attr *attr)
{
	struct wire_link2 body = { .dir1 = htole64(from->handle) };
	int rc = link_call(s, from, to, body, which, attr);

	if (rc != -ENOSYS)
		return rc;
	rc = mgr_link(s, from, to, which);
	return rc ? rc : mgr_getattr(s, to, attr);
}

int mgr_symlink_attr(struct session *s, const char *text,
		     const struct target *t, struct attr *attr)
{
	struct wire_link2 body = { .flags = htole32(WIRE_LN_SYMBOLIC) };
	struct target from = *t;
	int rc;

	from.path = text;
	rc = link_call(s, &from, t, body, NULL, attr);
	if (rc != -ENOSYS)
		return rc;
	rc = mgr_symlink(s, text, t);
	return rc ? rc : mgr_getattr(s, t, attr);
}

int mgr_unlink_attr(struct session *s, const struct target *t, struct attr *dir)
{
	struct mgr_attr_arg arg = { s, dir };
	struct ask c;

	if (!(rpc_peer_features(s->mgr) & WIRE_FT_V3)) {
		*dir = (struct attr){ 0 };
		return mgr_unlink(s, t);
	}
	mgr_begin_path(&c, s, t);
	c.once = true;
	return ask_run(&c, WIRE_UNLINK2, mgr_take_attr_rep, &arg);
}

struct link_arg {
	char *buf;
	size_t len, *n;
};

static int take_link(void *arg, const struct wire_msg *reply)
{
	struct link_arg *a = arg;
	size_t n = reply->tail[0].len;

	*a->n = n < a->len ? n : a->len;
	memcpy(a->buf, reply->tail[0].ptr, *a->n);
	return 0;
}

int mgr_readlink(struct session *s, const struct target *t, char *buf,
		 size_t len, size_t *n)
{
	struct link_arg arg = { buf, len, n };
	struct ask c;

	mgr_begin_path(&c, s, t);
	return ask_run(&c, WIRE_READLINK, take_link, &arg);
}
