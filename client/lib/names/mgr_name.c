/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mgr_name.c - the operations on names, with the fallback of LINK2 and UNLINK2 for managers
 * of earlier releases; READDIR and READDIRPLUS.
 */
#include <errno.h>
#include <sys/uio.h>

#include "client/lib/names/mgr_int.h"

int mgr_mkdir(struct session *s, const struct target *t, uint32_t mode,
	      struct attr *attr)
{
	struct wire_mkdir body = {
		.dir = htole64(t->handle),
		.mode = htole32(mode),
		.path_len = htole32((uint32_t)strlen(t->path)),
	};
	struct mgr_attr_arg arg = { s, attr };
	struct server_call c;

	mgr_begin(&c, s, t, &body, sizeof(body));
	c.once = true;
	return server_call_run(&c, WIRE_MKDIR, mgr_take_attr_rep, &arg);
}

static int path_call(struct session *s, const struct target *t, enum wire_op op)
{
	struct server_call c;

	mgr_begin_path(&c, s, t);
	c.once = true;
	return server_call_run(&c, op, NULL, NULL);
}

int mgr_rmdir(struct session *s, const struct target *t)
{
	return path_call(s, t, WIRE_RMDIR);
}

int mgr_unlink(struct session *s, const struct target *t)
{
	return path_call(s, t, WIRE_UNLINK);
}

static int two_call(struct session *s, const struct target *from,
		    const struct target *to, enum wire_op op,
		    unsigned int *which)
{
	struct wire_two body = {
		.dir1 = htole64(from->handle),
		.dir2 = htole64(to->handle),
		.path1_len = htole32((uint32_t)strlen(from->path)),
		.path2_len = htole32((uint32_t)strlen(to->path)),
	};
	struct server_call c;

	mgr_begin(&c, s, from, &body, sizeof(body));
	server_call_put(&c, to->path, strlen(to->path));
	c.which = which;
	c.once = true;
	return server_call_run(&c, op, NULL, NULL);
}

int mgr_rename(struct session *s, const struct target *from,
	       const struct target *to, unsigned int *which)
{
	return two_call(s, from, to, WIRE_RENAME, which);
}

int mgr_rename2(struct session *s, const struct target *from,
		const struct target *to, uint32_t flags, unsigned int *which)
{
	struct wire_rename body = {
		.dir1 = htole64(from->handle),
		.dir2 = htole64(to->handle),
		.path1_len = htole32((uint32_t)strlen(from->path)),
		.path2_len = htole32((uint32_t)strlen(to->path)),
		.flags = htole32(flags),
	};
	struct server_call c;

	mgr_begin(&c, s, from, &body, sizeof(body));
	server_call_put(&c, to->path, strlen(to->path));
	c.which = which;
	c.once = true;
	return server_call_run(&c, WIRE_RENAME2, NULL, NULL);
}

int mgr_mknod(struct session *s, const struct target *t,
	      const struct mgr_mknod *what, struct attr *attr)
{
	struct wire_mknod body = {
		.dir = htole64(t->handle),
		.mode = htole32(what->mode),
		.path_len = htole32((uint32_t)strlen(t->path)),
		.major = htole32(what->major),
		.minor = htole32(what->minor),
	};
	struct mgr_attr_arg arg = { s, attr };
	struct server_call c;

	mgr_begin(&c, s, t, &body, sizeof(body));
	c.once = true;
	return server_call_run(&c, WIRE_MKNOD, mgr_take_attr_rep, &arg);
}

int mgr_link(struct session *s, const struct target *from,
	     const struct target *to, unsigned int *which)
{
	return two_call(s, from, to, WIRE_LINK, which);
}

int mgr_symlink(struct session *s, const char *text, const struct target *t)
{
	struct wire_two body = {
		.dir2 = htole64(t->handle),
		.path1_len = htole32((uint32_t)strlen(text)),
		.path2_len = htole32((uint32_t)strlen(t->path)),
	};
	struct server_call c;

	server_call_begin(&c, s, s->mgr);
	c.redirect = t->redirect;
	c.as = t->as;
	server_call_put(&c, &body, sizeof(body));
	server_call_put(&c, text, strlen(text));
	server_call_put(&c, t->path, strlen(t->path));
	c.once = true;
	return server_call_run(&c, WIRE_SYMLINK, NULL, NULL);
}

static int link_call(struct session *s, const struct target *from,
		     const struct target *to, struct wire_link2 body,
		     unsigned int *which, struct attr *attr)
{
	struct mgr_attr_arg arg = { s, attr };
	struct server_call c;

	body.dir2 = htole64(to->handle);
	body.path1_len = htole32((uint32_t)strlen(from->path));
	body.path2_len = htole32((uint32_t)strlen(to->path));
	mgr_begin(&c, s, from, &body, sizeof(body));
	server_call_put(&c, to->path, strlen(to->path));
	c.which = which;
	c.once = true;
	return server_call_run(&c, WIRE_LINK2, mgr_take_attr_rep, &arg);
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
	struct server_call c;

	if (!(rpc_peer_features(s->mgr) & WIRE_FT_V3)) {
		*dir = (struct attr){ 0 };
		return mgr_unlink(s, t);
	}
	mgr_begin_path(&c, s, t);
	c.once = true;
	return server_call_run(&c, WIRE_UNLINK2, mgr_take_attr_rep, &arg);
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
	struct server_call c;

	mgr_begin_path(&c, s, t);
	return server_call_run(&c, WIRE_READLINK, take_link, &arg);
}

/* ---- listing a directory ---- */

static int take_listing(void *arg, const struct wire_msg *reply)
{
	const struct wire_readdir_rep *rep = reply->body;
	struct mgr_listing *l = arg;

	*l = (struct mgr_listing){
		.bytes = le32toh(rep->bytes),
		.count = le32toh(rep->count),
		.eof = le32toh(rep->eof),
	};
	return 0;
}

static int list_call(struct session *s, enum wire_op op, uint64_t dir,
		     uint64_t cookie, struct iovec into,
		     struct mgr_listing *listing)
{
	uint32_t len = (uint32_t)into.iov_len;
	struct wire_readdir body = {
		.dir = htole64(dir),
		.cookie = htole64(cookie),
		.mem = { .addr = htole64((uintptr_t)into.iov_base),
			 .len = htole32(len) },
	};
	struct rail_mem mem;
	struct server_call c;
	int rc;

	rail_mem_init(&mem, into.iov_base, len, TP_REMOTE_WRITE);
	server_call_begin(&c, s, s->mgr);
	c.mem = &mem;
	c.mem_at = (unsigned int)(c.out.len +
				  offsetof(struct wire_readdir, mem));
	server_call_put(&c, &body, sizeof(body));
	rc = server_call_run(&c, op, take_listing, listing);
	rail_mem_fini(&mem);
	return !rc && listing->bytes > len ? -EPROTO : rc;
}

int mgr_readdir(struct session *s, uint64_t dir, uint64_t cookie, void *buf,
		uint32_t len, struct mgr_listing *listing)
{
	return list_call(s, WIRE_READDIR, dir, cookie,
			 (struct iovec){ buf, len }, listing);
}

int mgr_readdirplus(struct session *s, uint64_t dir, uint64_t cookie, void *buf,
		    uint32_t len, struct mgr_listing *listing)
{
	return list_call(s, WIRE_READDIRPLUS, dir, cookie,
			 (struct iovec){ buf, len }, listing);
}

static int take_entry(struct session *s, const struct wire_direntplus *d,
		      struct mgr_entry *e)
{
	struct mgr_attr_arg arg = { s, &e->attr };

	*e = (struct mgr_entry){ .name = (const char *)(d + 1),
				 .handle = le64toh(d->ent.handle),
				 .cookie = le64toh(d->ent.cookie),
				 .mode = le32toh(d->ent.mode),
				 .known = d->attr.handle };
	return e->known ? mgr_take_attr(&arg, &d->attr) : 0;
}

int mgr_next_entry(struct session *s, const struct mgr_listing *l,
		   const void *buf, uint32_t *at, struct mgr_entry *e)
{
	const struct wire_direntplus *d = (const void *)((const char *)buf +
							 *at);
	int rc;

	if (*at == l->bytes)
		return 0;
	if (!wire_dirent_ok(&d->ent, l->bytes - *at, sizeof(*d))) {
		log_error(s->log, "%s: protocol error in a directory's entries",
			  rpc_peer_name(s->mgr));
		return -EPROTO;
	}
	rc = take_entry(s, d, e);
	if (rc)
		return rc;
	*at += le16toh(d->ent.reclen);
	return 1;
}
