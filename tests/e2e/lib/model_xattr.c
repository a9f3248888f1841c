/* SPDX-License-Identifier: BSD-2-Clause */
/* model_xattr.c - random calls on extended attributes, by path and descriptor. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>

#include "tests/e2e/lib/model.h"

#define VALUE_MAX 200u
#define LIST_MAX 4096u

static const char *any_name(struct model *m)
{
	static const char *const names[] = {
		"user.a",    "user.b",	"user.a",   "user.c",
		"trusted.t", "user.",	"trusted.", "security.s",
		"plain",     "other.a", "",	    "system.no",
	};

	return names[roll(m, sizeof(names) / sizeof(names[0]))];
}

/* On PVFS a descriptor for reading does not keep a removed file alive: calls fail with ESTALE. */
static bool removed_reader(const struct pair *p)
{
	struct stat st;

	return (p->flags & O_ACCMODE) == O_RDONLY &&
	       (fstat(p->fd[B], &st) || !st.st_nlink);
}

/* Chooses the same object on both sides: a path, a symlink itself, or a descriptor. */
static struct pair *any_object(struct model *m, bool *link)
{
	struct pair *p = chance(m, 30) ? any_pair(m) : NULL;

	if (p && removed_reader(p))
		p = NULL;

	*link = chance(m, 30);
	any_path(m, 0);
	return p;
}

static void op_set(struct model *m)
{
	int flags = (int)roll(m, chance(m, 5) ? 5 : 3);
	const char *name = any_name(m);
	size_t len = roll(m, VALUE_MAX);
	struct pair *p;
	bool link;

	p = any_object(m, &link);
	for (size_t i = 0; i < len; i++)
		m->buf[A][i] = (char)roll(m, 256);
	what(m, "%s %s %s: %zu, flags %d", link ? "lsetxattr" : "setxattr",
	     p ? "fd" : m->path[B][0], name, len, flags);
	BOTH(m,
	     p	    ? pvfs_fsetxattr(p->fd[s], name, m->buf[A], len, flags)
	     : link ? pvfs_lsetxattr(m->path[s][0], name, m->buf[A], len, flags)
		    : pvfs_setxattr(m->path[s][0], name, m->buf[A], len,
				    flags));
}

static void op_get(struct model *m)
{
	size_t cap = chance(m, 70) ? VALUE_MAX : roll(m, VALUE_MAX);
	const char *name = any_name(m);
	struct pair *p;
	bool link;

	p = any_object(m, &link);
	memset(m->buf[A], 0, VALUE_MAX);
	memset(m->buf[B], 0, VALUE_MAX);
	what(m, "%s %s %s: %zu", link ? "lgetxattr" : "getxattr",
	     p ? "fd" : m->path[B][0], name, cap);
	BOTH(m, p      ? pvfs_fgetxattr(p->fd[s], name, m->buf[s], cap)
		: link ? pvfs_lgetxattr(m->path[s][0], name, m->buf[s], cap)
		       : pvfs_getxattr(m->path[s][0], name, m->buf[s], cap));
	same_bytes(m, VALUE_MAX);
}

static void op_remove(struct model *m)
{
	const char *name = any_name(m);
	struct pair *p;
	bool link;

	p = any_object(m, &link);
	what(m, "%s %s %s", link ? "lremovexattr" : "removexattr",
	     p ? "fd" : m->path[B][0], name);
	BOTH(m, p      ? pvfs_fremovexattr(p->fd[s], name)
		: link ? pvfs_lremovexattr(m->path[s][0], name)
		       : pvfs_removexattr(m->path[s][0], name));
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* File systems list attributes in different orders. */
static void sort(char *list, size_t len)
{
	const char *name[64];
	char out[LIST_MAX], *to = out;
	size_t n = 0;

	for (size_t at = 0; at < len && n < 64; at += strlen(list + at) + 1)
		name[n++] = list + at;
	qsort(name, n, sizeof(name[0]), by_name);
	for (size_t i = 0; i < n; i++)
		to = stpcpy(to, name[i]) + 1;
	memcpy(list, out, (size_t)(to - out));
}

static void op_names(struct model *m)
{
	struct pair *p;
	int64_t n = 0;
	bool link;

	p = any_object(m, &link);
	memset(m->buf[A], 0, LIST_MAX);
	memset(m->buf[B], 0, LIST_MAX);
	what(m, "%s %s", link ? "llistxattr" : "listxattr",
	     p ? "fd" : m->path[B][0]);
	BOTH(m,
	     n = p	? pvfs_flistxattr(p->fd[s], m->buf[s], LIST_MAX)
		 : link ? pvfs_llistxattr(m->path[s][0], m->buf[s], LIST_MAX)
			: pvfs_listxattr(m->path[s][0], m->buf[s], LIST_MAX));
	if (n <= 0)
		return;
	sort(m->buf[A], (size_t)n);
	sort(m->buf[B], (size_t)n);
	same_bytes(m, n);
}

/* Some ordinary folders do not support extended attributes. */
static bool are_there(const struct model *m)
{
	return !lsetxattr(m->dir[B], "user.model", "", 0, 0) &&
	       !lremovexattr(m->dir[B], "user.model");
}

void op_xattr(struct model *m)
{
	static void (*const ops[])(struct model *) = { op_set, op_set, op_get,
						       op_remove, op_names };

	if (m->xattrs == UNKNOWN)
		m->xattrs = are_there(m) ? THERE : NOWHERE;
	if (m->xattrs == THERE)
		ops[roll(m, sizeof(ops) / sizeof(ops[0]))](m);
}
