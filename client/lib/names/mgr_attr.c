/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mgr_attr.c - GETATTR, SETATTR, ACCESS and TRUNCATE; SETXATTR, GETXATTR, LISTXATTR and
 * REMOVEXATTR.
 */
#include <errno.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include "client/lib/names/mgr_int.h"

int mgr_take_attr(struct mgr_attr_arg *arg, const struct wire_attr *a)
{
	struct attr *attr = arg->attr;

	*attr = (struct attr){
		.handle = le64toh(a->handle),
		.size = le64toh(a->size),
		.atime = (int64_t)le64toh(a->atime),
		.mtime = (int64_t)le64toh(a->mtime),
		.ctime = (int64_t)le64toh(a->ctime),
		.mode = le32toh(a->mode),
		.nlink = le32toh(a->nlink),
		.uid = le32toh(a->uid),
		.gid = le32toh(a->gid),
		.flags = le32toh(a->flags),
		.major = le32toh(a->dist.base),
		.minor = le32toh(a->dist.pcount),
		.dist = { .base = le32toh(a->dist.base),
			  .pcount = le32toh(a->dist.pcount),
			  .ssize = le32toh(a->dist.ssize),
			  .ring = le32toh(a->dist.ring) },
	};
	if (attr->size > INT64_MAX ||
	    (S_ISREG(attr->mode) &&
	     copyset_check_layout(&attr->dist, arg->s->niods))) {
		log_error(arg->s->log,
			  "%s: protocol error in the attributes of %016llx",
			  rpc_peer_name(arg->s->mgr),
			  (unsigned long long)attr->handle);
		return -EPROTO;
	}
	return 0;
}

int mgr_take_attr_rep(void *arg, const struct wire_msg *reply)
{
	const struct wire_attr_rep *rep = reply->body;
	struct mgr_attr_arg *a = arg;

	return a->attr ? mgr_take_attr(a, &rep->attr) : 0;
}

int mgr_getattr(struct session *s, const struct target *t, struct attr *attr)
{
	struct mgr_attr_arg arg = { s, attr };
	struct server_call c;

	mgr_begin_path(&c, s, t);
	return server_call_run(&c, WIRE_GETATTR, mgr_take_attr_rep, &arg);
}

int mgr_setattr(struct session *s, const struct target *t,
		const struct setattr *set, struct attr *attr)
{
	bool kills = set->valid == WIRE_S_KILL;
	struct wire_setattr body = {
		.dir = htole64(t->handle),
		.atime = htole64(kills ? t->open : (uint64_t)set->atime),
		.mtime = htole64((uint64_t)set->mtime),
		.valid = htole32(set->valid),
		.mode = htole32(set->mode),
		.uid = htole32(set->uid),
		.gid = htole32(set->gid),
		.flags = htole32(t->flags),
		.path_len = htole32((uint32_t)strlen(t->path)),
	};
	struct mgr_attr_arg arg = { s, attr };
	struct server_call c;

	mgr_begin(&c, s, t, &body, sizeof(body));
	c.once = true;
	return server_call_run(&c, WIRE_SETATTR, mgr_take_attr_rep, &arg);
}

int mgr_access(struct session *s, const struct target *t, uint32_t mask)
{
	struct wire_access body = {
		.dir = htole64(t->handle),
		.mask = htole32(mask),
		.path_len = htole32((uint32_t)strlen(t->path)),
	};
	struct server_call c;

	mgr_begin(&c, s, t, &body, sizeof(body));
	return server_call_run(&c, WIRE_ACCESS, NULL, NULL);
}

int mgr_truncate(struct session *s, const struct target *t, uint64_t size)
{
	struct wire_truncate body = {
		.dir = htole64(t->handle),
		.size = htole64(size),
		.open = htole64(t->open),
		.path_len = htole32((uint32_t)strlen(t->path)),
	};
	struct server_call c;

	mgr_begin(&c, s, t, &body, sizeof(body));
	c.once = true;
	return server_call_run(&c, WIRE_TRUNCATE, NULL, NULL);
}

int mgr_setxattr(struct session *s, const struct target *t, const char *name,
		 const void *value, size_t len, int flags)
{
	struct wire_setxattr body = {
		.dir = htole64(t->handle),
		.flags = htole32((flags & XATTR_CREATE ? WIRE_X_CREATE : 0) |
				 (flags & XATTR_REPLACE ? WIRE_X_REPLACE : 0)),
		.path_len = htole32((uint32_t)strlen(t->path)),
		.name_len = htole32((uint32_t)strlen(name)),
		.value_len = htole32((uint32_t)len),
	};
	struct server_call c;

	if (len > WIRE_XATTR_MAX)
		return -ENOSPC;
	if (flags & ~(XATTR_CREATE | XATTR_REPLACE))
		return -EINVAL;
	mgr_begin(&c, s, t, &body, sizeof(body));
	server_call_put(&c, name, strlen(name));
	server_call_put(&c, value, len);
	c.once = true;
	return server_call_run(&c, WIRE_SETXATTR, NULL, NULL);
}

static int take_bytes(void *arg, const struct wire_msg *reply)
{
	struct xattr_buf *out = arg;

	out->n = reply->tail[0].len;
	if (out->n <= out->cap)
		memcpy(out->buf, reply->tail[0].ptr, out->n);
	return 0;
}

static void begin_named(struct server_call *c, struct session *s,
			const struct target *t, const char *name)
{
	struct wire_getxattr body = {
		.dir = htole64(t->handle),
		.path_len = htole32((uint32_t)strlen(t->path)),
		.name_len = htole32((uint32_t)strlen(name)),
	};

	mgr_begin(c, s, t, &body, sizeof(body));
	server_call_put(c, name, strlen(name));
}

int mgr_getxattr(struct session *s, const struct target *t, const char *name,
		 struct xattr_buf *out)
{
	struct server_call c;

	begin_named(&c, s, t, name);
	return server_call_run(&c, WIRE_GETXATTR, take_bytes, out);
}

int mgr_removexattr(struct session *s, const struct target *t, const char *name)
{
	struct server_call c;

	begin_named(&c, s, t, name);
	c.once = true;
	return server_call_run(&c, WIRE_REMOVEXATTR, NULL, NULL);
}

int mgr_listxattr(struct session *s, const struct target *t,
		  struct xattr_buf *out)
{
	struct server_call c;

	mgr_begin_path(&c, s, t);
	return server_call_run(&c, WIRE_LISTXATTR, take_bytes, out);
}
