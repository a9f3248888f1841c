/* SPDX-License-Identifier: BSD-2-Clause */
/* mgr_name.c - the operations on names. */
#include <errno.h>

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
	struct ask c;

	mgr_begin(&c, s, t, &body, sizeof(body));
	c.once = true;
	return ask_run(&c, WIRE_MKDIR, mgr_take_attr_rep, &arg);
}

static int path_call(struct session *s, const struct target *t, enum wire_op op)
{
	struct ask c;

	mgr_begin_path(&c, s, t);
	c.once = true;
	return ask_run(&c, op, NULL, NULL);
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
	struct ask c;

	mgr_begin(&c, s, from, &body, sizeof(body));
	ask_put(&c, to->path, strlen(to->path));
	c.which = which;
	c.once = true;
	return ask_run(&c, op, NULL, NULL);
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
	struct ask c;

	mgr_begin(&c, s, from, &body, sizeof(body));
	ask_put(&c, to->path, strlen(to->path));
	c.which = which;
	c.once = true;
	return ask_run(&c, WIRE_RENAME2, NULL, NULL);
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
	struct ask c;

	mgr_begin(&c, s, t, &body, sizeof(body));
	c.once = true;
	return ask_run(&c, WIRE_MKNOD, mgr_take_attr_rep, &arg);
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
	struct ask c;

	ask_begin(&c, s, s->mgr);
	c.redirect = t->redirect;
	c.as = t->as;
	ask_put(&c, &body, sizeof(body));
	ask_put(&c, text, strlen(text));
	ask_put(&c, t->path, strlen(t->path));
	c.once = true;
	return ask_run(&c, WIRE_SYMLINK, NULL, NULL);
}
