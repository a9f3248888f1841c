/* SPDX-License-Identifier: BSD-2-Clause */
/* mgr_model.c - the model, written from the manual pages. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/mgr_model.h"
#include "mgr/ns/ns.h"

struct node node[NODES];
unsigned int removes;

void model_reset(void)
{
	memset(node, 0, sizeof(node));
	removes = 0;
	node[0] = (struct node){
		.used = true, .type = 'd', .nlink = 2, .mode = 0755
	};
	for (int i = 0; i < NAMES; i++)
		node[0].child[i] = -1;
}

static int model_walk(int dir, const char *path, bool follow, bool entry,
		      int *links, struct spot *s)
{
	char comp[64], rest[512];
	size_t n = strspn(path, "/"), len;
	bool last;
	int child;

	path += n;
	if (!*path) {
		*s = (struct spot){ -1, -1, dir, '/', n > 0 };
		return 0;
	}
	len = strcspn(path, "/");
	memcpy(comp, path, len);
	comp[len] = '\0';
	snprintf(rest, sizeof(rest), "%s", path + len);
	last = strspn(rest, "/") == strlen(rest);
	if (node[dir].type != 'd')
		return -ENOTDIR;
	if (!strcmp(comp, ".")) {
		if (!last)
			return model_walk(dir, rest, follow, entry, links, s);
		*s = (struct spot){ -1, -1, dir, '.', *rest };
		return 0;
	}
	if (!strcmp(comp, "..")) {
		if (dir == 0)
			return NS_REDIRECT;
		dir = node[dir].parent;
		if (!last)
			return model_walk(dir, rest, follow, entry, links, s);
		*s = (struct spot){ -1, -1, dir, ':', *rest };
		return 0;
	}
	child = node[dir].child[comp[0] - 'a'];
	if (child < 0) {
		if (!last || !entry)
			return -ENOENT;
		*s = (struct spot){ dir, comp[0] - 'a', -1, 'n', *rest };
		return 0;
	}
	if (node[child].type == 'l' && (!last || follow || (*rest && !entry))) {
		char text[1024];

		if (++*links > 40)
			return -ELOOP;
		if (node[child].target[0] == '/')
			return NS_REDIRECT;
		snprintf(text, sizeof(text), "%s%s", node[child].target, rest);
		if (strlen(text) > 400)
			return -EIO; /* the test has no such paths */
		return model_walk(dir, text, follow, entry, links, s);
	}
	if (last) {
		if (*rest && !entry && node[child].type != 'd')
			return -ENOTDIR;
		*s = (struct spot){ dir, comp[0] - 'a', child, 'n', *rest };
		return 0;
	}
	if (node[child].type != 'd')
		return -ENOTDIR;
	return model_walk(child, rest, follow, entry, links, s);
}

int model_find(const char *path, bool follow, bool entry, struct spot *s)
{
	int links = 0;

	return model_walk(0, path, follow, entry, &links, s);
}

static int model_new(char type, unsigned int mode, const struct spot *s)
{
	int n = 1;

	while (node[n].used)
		n++;
	ck_assert_int_lt(n, NODES);
	memset(&node[n], 0, sizeof(node[n]));
	node[n] = (struct node){ .used = true,
				 .type = type,
				 .nlink = type == 'd' ? 2 : 1,
				 .mode = mode,
				 .parent = s->dir,
				 .known = true };
	for (int i = 0; i < NAMES; i++)
		node[n].child[i] = -1;
	node[s->dir].child[s->name] = n;
	if (type == 'd')
		node[s->dir].nlink++;
	return n;
}

void model_settle(int n)
{
	if (node[n].nlink || node[n].writers)
		return;
	if (node[n].data)
		removes++;
	node[n].used = false;
}

static bool model_empty(int n)
{
	for (int i = 0; i < NAMES; i++)
		if (node[n].child[i] >= 0)
			return false;
	return true;
}

void model_last_writer(int n)
{
	if (--node[n].writers || node[n].taint)
		return;
	if (node[n].end > node[n].size)
		node[n].size = node[n].end;
	node[n].known = true;
}

int model_mkdir(const char *path)
{
	struct spot s;
	int rc = model_find(path, false, true, &s);

	if (rc)
		return rc;
	if (s.last != 'n' || s.node >= 0)
		return -EEXIST;
	model_new('d', 0755, &s);
	return 0;
}

int model_rmdir(const char *path)
{
	struct spot s;
	int rc = model_find(path, false, true, &s);

	if (rc)
		return rc;
	if (s.last != 'n')
		return s.last == '/'   ? -EBUSY
		       : s.last == '.' ? -EINVAL
				       : -ENOTEMPTY;
	if (s.node < 0)
		return -ENOENT;
	if (node[s.node].type != 'd')
		return -ENOTDIR;
	if (!model_empty(s.node))
		return -ENOTEMPTY;
	node[s.dir].child[s.name] = -1;
	node[s.dir].nlink--;
	node[s.node].used = false;
	return 0;
}

int model_unlink(const char *path)
{
	struct spot s;
	int rc = model_find(path, false, true, &s);

	if (rc)
		return rc;
	if (s.last != 'n')
		return -EISDIR;
	if (s.node < 0)
		return -ENOENT;
	if (node[s.node].type == 'd')
		return -EISDIR;
	if (s.slash)
		return -ENOTDIR;
	node[s.dir].child[s.name] = -1;
	node[s.node].nlink--;
	model_settle(s.node);
	return 0;
}

int model_symlink(const char *target, const char *path)
{
	struct spot s;
	int rc = model_find(path, false, true, &s);

	if (rc)
		return rc;
	if (s.last != 'n' || s.node >= 0)
		return -EEXIST;
	if (s.slash)
		return -ENOENT;
	strcpy(node[model_new('l', 0777, &s)].target, target);
	return 0;
}

int model_link(const char *from, const char *to)
{
	struct spot a, b;
	int rc = model_find(from, false, false, &a);

	if (!rc)
		rc = model_find(to, false, true, &b);
	if (rc)
		return rc;
	if (b.last != 'n' || b.node >= 0)
		return -EEXIST;
	if (b.slash)
		return -ENOENT;
	if (node[a.node].type == 'd')
		return -EPERM;
	node[a.node].nlink++;
	node[b.dir].child[b.name] = a.node;
	return 0;
}

static bool model_inside(int dir, int top)
{
	for (; dir != top; dir = node[dir].parent)
		if (dir == 0)
			return false;
	return true;
}

/* The errors that follow from the names themselves. */
static int model_rename_names(const struct spot *a, const struct spot *b,
			      uint32_t flags)
{
	const struct spot *comes = flags & WIRE_RN_EXCHANGE ? b : a;

	if (a->last != 'n')
		return -EBUSY;
	if (b->last != 'n')
		return flags & WIRE_RN_NOREPLACE ? -EEXIST : -EBUSY;
	if (a->node < 0)
		return -ENOENT;
	if (flags & WIRE_RN_NOREPLACE && b->node >= 0)
		return -EEXIST;
	if (flags & WIRE_RN_EXCHANGE && b->node < 0)
		return -ENOENT;
	if (b->slash && node[comes->node].type != 'd')
		return -ENOTDIR;
	return a->slash && node[a->node].type != 'd' ? -ENOTDIR : 0;
}

static int model_exchange_check(const struct spot *a, const struct spot *b)
{
	if (node[a->node].type == 'd' && model_inside(b->dir, a->node))
		return -EINVAL;
	if (node[b->node].type == 'd' && model_inside(a->dir, b->node))
		return -EINVAL;
	return 0;
}

static int model_replace_check(const struct spot *a, const struct spot *b)
{
	if (node[a->node].type == 'd' && model_inside(b->dir, a->node))
		return -EINVAL;
	if (b->node < 0)
		return 0;
	if (node[b->node].type == 'd' && model_inside(a->dir, b->node))
		return -ENOTEMPTY;
	if (node[b->node].type != 'd')
		return node[a->node].type == 'd' ? -ENOTDIR : 0;
	if (node[a->node].type != 'd')
		return -EISDIR;
	return model_empty(b->node) ? 0 : -ENOTEMPTY;
}

/* n comes from one directory to stand at another place. */
static void model_place(int n, int from, const struct spot *at)
{
	node[at->dir].child[at->name] = n;
	if (node[n].type != 'd')
		return;
	node[from].nlink--;
	node[at->dir].nlink++;
	node[n].parent = at->dir;
}

static int model_replace(const struct spot *a, const struct spot *b)
{
	int rc = model_replace_check(a, b);

	if (rc)
		return rc;
	node[a->dir].child[a->name] = -1;
	model_place(a->node, a->dir, b);
	if (b->node < 0)
		return 0;
	if (node[b->node].type == 'd') {
		node[b->dir].nlink--;
		node[b->node].used = false;
	} else {
		node[b->node].nlink--;
		model_settle(b->node);
	}
	return 0;
}

static int model_exchange(const struct spot *a, const struct spot *b)
{
	int rc = model_exchange_check(a, b);

	if (rc)
		return rc;
	model_place(a->node, a->dir, b);
	model_place(b->node, b->dir, a);
	return 0;
}

int model_rename(const char *from, const char *to, uint32_t flags)
{
	struct spot a, b;
	int rc = model_find(from, false, true, &a);

	if (!rc)
		rc = model_find(to, false, true, &b);
	if (!rc)
		rc = model_rename_names(&a, &b, flags);
	if (rc || b.node == a.node)
		return rc;
	return flags & WIRE_RN_EXCHANGE ? model_exchange(&a, &b)
					: model_replace(&a, &b);
}

int model_open(const char *path, bool excl, int *n)
{
	bool slash = path[0] && path[strlen(path) - 1] == '/';
	struct spot s;
	int rc = model_find(path, !excl && !slash, true, &s);

	if (rc)
		return rc;
	if (slash)
		return -EISDIR;
	if (s.node < 0) {
		if (s.slash)
			return -EISDIR;
		*n = model_new('f', 0644, &s);
	} else {
		if (excl)
			return -EEXIST;
		if (s.slash || node[s.node].type == 'd')
			return -EISDIR;
		*n = s.node;
	}
	if (node[*n].known)
		node[*n].end = node[*n].size;
	node[*n].known = false;
	node[*n].writers++;
	return 0;
}
