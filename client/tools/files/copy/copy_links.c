/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * copy_links.c - files with several names.  The first name that the walk finds is
 * copied.  The others become links to it when all files are complete.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

#include "client/tools/files/copy/copy.h"

struct copy_link {
	UT_hash_handle hh;
	struct copy_id id;
	char *to;
	atomic_bool there;
};

struct later {
	STAILQ_ENTRY(later) next;
	struct copy_link *first;
	char *from, *to;
};

struct copy_links {
	struct copy_link *by_id;
	STAILQ_HEAD(, later) later;
};

struct copy_links *copy_links_new(void)
{
	struct copy_links *l = calloc(1, sizeof(*l));

	if (l)
		STAILQ_INIT(&l->later);
	return l;
}

static void free_later(struct later *n)
{
	free(n->from);
	free(n->to);
	free(n);
}

static int add_later(struct copy_links *l, struct copy_link *first,
		     const char *from, const char *to)
{
	struct later *n = calloc(1, sizeof(*n));

	if (!n)
		return -1;
	n->first = first;
	n->from = strdup(from);
	n->to = strdup(to);
	if (!n->from || !n->to) {
		free_later(n);
		return -1;
	}
	STAILQ_INSERT_TAIL(&l->later, n, next);
	return 1;
}

int copy_links_add(struct copy_links *l, const struct stat *st,
		   const char *from, const char *to, struct copy_link **link)
{
	struct copy_link *is, *k = calloc(1, sizeof(*k));

	if (!k)
		return -1;
	k->id = copy_id_of(st);
	HASH_FIND(hh, l->by_id, &k->id, sizeof(k->id), is);
	if (is) {
		free(k);
		return add_later(l, is, from, to);
	}
	k->to = strdup(to);
	if (!k->to) {
		free(k);
		return -1;
	}
	HASH_ADD(hh, l->by_id, id, sizeof(k->id), k);
	*link = k;
	return 0;
}

void copy_link_is_there(struct copy_link *link)
{
	if (link)
		atomic_store(&link->there, true);
}

static int link_to(const char *path, void *first)
{
	return pvfs_link(first, path);
}

static int make_link(const struct copy *c, const char *first, const char *to)
{
	struct stat a, b;

	if (!pvfs_link(first, to))
		return 0;
	if (errno != EEXIST)
		return -1;
	if (c->opt.no_clobber ||
	    (!pvfs_lstat(first, &a) && !pvfs_lstat(to, &b) &&
	     tool_same_file(&a, &b)))
		return 0;
	return copy_replace(to, link_to, (void *)first);
}

static void finish_one(struct copy *c, const struct later *n)
{
	if (copy_over(c))
		return;
	if (!atomic_load(&n->first->there)) {
		tool_say(c->tool, "%s: not linked to %s, which was not copied",
			 n->to, n->first->to);
		atomic_store(&c->failed, true);
	} else if (make_link(c, n->first->to, n->to)) {
		copy_failed(c, n->to);
	} else {
		atomic_fetch_add(&c->files, 1);
		if (c->opt.verbose)
			tool_line(stdout, "%s -> %s\n", n->from, n->to);
	}
}

void copy_links_finish(struct copy *c, struct copy_links *l)
{
	struct copy_link *k, *next;
	struct later *n;

	while ((n = STAILQ_FIRST(&l->later))) {
		STAILQ_REMOVE_HEAD(&l->later, next);
		finish_one(c, n);
		free_later(n);
	}
	HASH_ITER(hh, l->by_id, k, next) {
		HASH_DEL(l->by_id, k);
		free(k->to);
		free(k);
	}
	free(l);
}
