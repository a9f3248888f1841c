/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lock_index.c - see lock_index.h.
 *
 * One treap for each file and space, ordered by the starts.  Each node knows, for each
 * kind of search, the two locks of different holders that reach furthest at or below
 * it.  So a search that excludes one holder still knows how far the other locks below a
 * node reach, and follows a single path.  (T. Cormen et al., Introduction to
 * Algorithms, "Interval trees"; C. Aragon and R. Seidel, Randomized Search Trees.)
 */
#include "mgr/db/lock_index.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/queue.h>

#include "common/util/hash_table.h"

#define NOBODY UINT32_MAX /* no user */

enum kind { ANY, EXCLUSIVE, KINDS };

/* Of two different holders; second NULL: all locks are the first one's. */
struct furthest {
	const struct lock_node *first, *second;
};

struct lock_node {
	struct lock_rec rec;
	struct lock_file *file;
	struct lock_user *by;
	uint64_t priority;
	uint64_t reserved; /* the number of a reservation; 0: a lock */
	struct lock_node *child[2];
	struct furthest furthest[KINDS]; /* at or below this node */
	/* in the tree now; in the tree at the last commit */
	bool inside, was_inside;
	bool noted; /* in the list of changes */
	SLIST_ENTRY(lock_node) change;
};

struct lock_file {
	UT_hash_handle hh;
	uint64_t key[2]; /* handle, space */
	struct lock_node *root;
	size_t nodes; /* of this file, in the tree or not */
};

struct lock_user {
	UT_hash_handle hh;
	uint32_t uid;
	size_t nodes; /* in the tree or not */
	size_t locks; /* in the tree */
};

struct lock_index {
	struct lock_file *files;
	struct lock_user *users;
	size_t locks, max;
	uint64_t reservations; /* since the open */
	uint64_t random;
	SLIST_HEAD(, lock_node) changes; /* since the last commit or abort */
	lock_removed_fn *gone; /* or NULL */
	void *gone_arg;
};

int lock_index_open(uint64_t seed, size_t max, struct lock_index **out)
{
	struct lock_index *index = calloc(1, sizeof(*index));

	if (!index)
		return -ENOMEM;
	index->random = seed;
	index->max = max;
	SLIST_INIT(&index->changes);
	*out = index;
	return 0;
}

/* ---- nodes ---- */

static uint64_t next_random(struct lock_index *index)
{
	uint64_t z = index->random += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static struct lock_file *find_file(struct lock_index *index, uint64_t handle,
				   uint32_t space)
{
	const uint64_t key[] = { handle, space };
	struct lock_file *file;

	HASH_FIND(hh, index->files, key, sizeof(key), file);
	return file;
}

static struct lock_file *get_file(struct lock_index *index, uint64_t handle,
				  uint32_t space)
{
	struct lock_file *file = find_file(index, handle, space);

	if (file || !(file = calloc(1, sizeof(*file))))
		return file;
	file->key[0] = handle;
	file->key[1] = space;
	HASH_ADD(hh, index->files, key, sizeof(file->key), file);
	if (file->hh.tbl)
		return file;
	free(file);
	return NULL;
}

static struct lock_user *get_user(struct lock_index *index, uint32_t uid)
{
	struct lock_user *user;

	HASH_FIND(hh, index->users, &uid, sizeof(uid), user);
	if (user || !(user = calloc(1, sizeof(*user))))
		return user;
	user->uid = uid;
	HASH_ADD(hh, index->users, uid, sizeof(user->uid), user);
	if (user->hh.tbl)
		return user;
	free(user);
	return NULL;
}

/* Frees the file and the user if they have no nodes left. */
static void free_unused(struct lock_index *index, struct lock_file *file,
			struct lock_user *by)
{
	if (file && !file->nodes) {
		HASH_DEL(index->files, file);
		free(file);
	}
	if (by && !by->nodes) {
		HASH_DEL(index->users, by);
		free(by);
	}
}

static int new_node(struct lock_index *index, const struct lock_rec *rec,
		    uint32_t uid, struct lock_node **out)
{
	struct lock_file *file = get_file(index, rec->handle, rec->space);
	struct lock_user *by = get_user(index, uid);
	struct lock_node *node = NULL;

	if (file && by)
		node = calloc(1, sizeof(*node));
	if (!node) {
		free_unused(index, file, by);
		return -ENOMEM;
	}
	*node = (struct lock_node){ .rec = *rec,
				    .file = file,
				    .by = by,
				    .priority = next_random(index) };
	file->nodes++;
	by->nodes++;
	*out = node;
	return 0;
}

static void free_node(struct lock_index *index, struct lock_node *node)
{
	struct lock_file *file = node->file;
	struct lock_user *by = node->by;

	free(node);
	file->nodes--;
	by->nodes--;
	free_unused(index, file, by);
}

/* ---- the tree ---- */

static int compare_u64(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int node_compare(const struct lock_node *a, const struct lock_node *b)
{
	int by = compare_u64(a->rec.start, b->rec.start);

	if (!by)
		by = compare_u64(a->rec.session, b->rec.session);
	if (!by)
		by = compare_u64(a->rec.owner, b->rec.owner);
	return by ? by : compare_u64(a->reserved, b->reserved);
}

static void furthest_add(struct furthest *f, const struct lock_node *node)
{
	if (!node)
		return;
	if (f->first && lock_same_holder(&node->rec, &f->first->rec)) {
		if (node->rec.end > f->first->rec.end)
			f->first = node;
	} else if (!f->first || node->rec.end > f->first->rec.end) {
		f->second = f->first;
		f->first = node;
	} else if (!f->second || node->rec.end > f->second->rec.end) {
		f->second = node;
	}
}

static void node_refresh(struct lock_node *node)
{
	for (int k = 0; k < KINDS; k++) {
		struct furthest *f = &node->furthest[k];

		*f = (struct furthest){ 0 };
		if (k == ANY || node->rec.type == LOCK_EXCLUSIVE)
			furthest_add(f, node);
		for (int i = 0; i < 2; i++) {
			if (!node->child[i])
				continue;
			furthest_add(f, node->child[i]->furthest[k].first);
			furthest_add(f, node->child[i]->furthest[k].second);
		}
	}
}

/* Splits the tree of node: part[0] gets the nodes before `at`, part[1] all other nodes. */
static void tree_split(struct lock_node *node, const struct lock_node *at,
		       struct lock_node *part[2])
{
	bool before;

	if (!node) {
		part[0] = part[1] = NULL;
		return;
	}
	before = node_compare(node, at) < 0;
	tree_split(node->child[before], at, part);
	node->child[before] = part[!before];
	node_refresh(node);
	part[!before] = node;
}

/* All nodes of a must precede all nodes of b. */
static struct lock_node *tree_join(struct lock_node *a, struct lock_node *b)
{
	struct lock_node *top;

	if (!a || !b)
		return a ? a : b;
	if (a->priority > b->priority) {
		top = a;
		a->child[1] = tree_join(a->child[1], b);
	} else {
		top = b;
		b->child[0] = tree_join(a, b->child[0]);
	}
	node_refresh(top);
	return top;
}

static struct lock_node *tree_insert(struct lock_node *tree,
				     struct lock_node *node)
{
	bool after;

	if (!tree || tree->priority < node->priority) {
		tree_split(tree, node, node->child);
		tree = node;
	} else {
		after = node_compare(node, tree) > 0;
		tree->child[after] = tree_insert(tree->child[after], node);
	}
	node_refresh(tree);
	return tree;
}

/* node must be in the tree. */
static struct lock_node *tree_remove(struct lock_node *tree,
				     const struct lock_node *node)
{
	bool after;

	if (tree == node)
		return tree_join(tree->child[0], tree->child[1]);
	after = node_compare(node, tree) > 0;
	tree->child[after] = tree_remove(tree->child[after], node);
	node_refresh(tree);
	return tree;
}

static struct lock_node *find_node(const struct lock_file *file,
				   const struct lock_rec *rec)
{
	const struct lock_node key = { .rec = *rec };
	struct lock_node *node = file ? file->root : NULL;
	int by;

	while (node && (by = node_compare(&key, node)))
		node = node->child[by > 0];
	return node;
}

/* ---- changes ---- */

static void note_change(struct lock_index *index, struct lock_node *node)
{
	if (node->noted)
		return;
	node->noted = true;
	SLIST_INSERT_HEAD(&index->changes, node, change);
}

static void node_enter(struct lock_index *index, struct lock_node *node)
{
	node->file->root = tree_insert(node->file->root, node);
	node->inside = true;
	node->by->locks++;
	index->locks++;
}

static void node_leave(struct lock_index *index, struct lock_node *node)
{
	node->file->root = tree_remove(node->file->root, node);
	node->inside = false;
	node->by->locks--;
	index->locks--;
}

/*
 * The users of locks from before the start are unknown.  So each user has a share of the rest only:
 * one that takes its share after each start never has all locks.
 */
static size_t share_of_user(struct lock_index *index)
{
	const uint32_t nobody = NOBODY;
	struct lock_user *before;

	HASH_FIND(hh, index->users, &nobody, sizeof(nobody), before);
	return (index->max - (before ? before->locks : 0)) / 4;
}

static int node_enter_new(struct lock_index *index, struct lock_node *node)
{
	if (index->locks >= index->max ||
	    node->by->locks >= share_of_user(index)) {
		free_node(index, node);
		return -ENOLCK;
	}
	node_enter(index, node);
	return 0;
}

static struct lock_node *find_same_node(struct lock_index *index,
					const struct lock_rec *rec)
{
	return find_node(find_file(index, rec->handle, rec->space), rec);
}

static void node_take_out(struct lock_index *index, struct lock_node *node)
{
	if (!node)
		return;
	note_change(index, node);
	node_leave(index, node);
}

void lock_index_del(struct lock_index *index, const struct lock_rec *rec)
{
	node_take_out(index, find_same_node(index, rec));
}

int lock_index_put(struct lock_index *index, const struct lock_rec *rec,
		   uint32_t uid)
{
	struct lock_node *node, *old = find_same_node(index, rec);
	int rc = new_node(index, rec, uid, &node);

	if (rc)
		return rc;
	if (!old)
		rc = node_enter_new(index, node);
	if (rc)
		return rc;
	if (old) {
		node_take_out(index, old);
		node_enter(index, node);
	}
	note_change(index, node);
	return 0;
}

int lock_index_load(struct lock_index *index, const struct lock_rec *rec)
{
	struct lock_node *node;
	int rc = new_node(index, rec, NOBODY, &node);

	if (rc)
		return rc;
	node->was_inside = true;
	node_enter(index, node);
	return 0;
}

int lock_index_reserve(struct lock_index *index, const struct lock_rec *rec,
		       uint32_t uid, struct lock_node **out)
{
	struct lock_node *node;
	int rc = new_node(index, rec, uid, &node);

	if (rc)
		return rc;
	node->reserved = ++index->reservations;
	node->was_inside = true;
	node_enter(index, node);
	*out = node;
	return 0;
}

static void report_removed(const struct lock_index *index,
			   const struct lock_node *node)
{
	if (index->gone && node->was_inside)
		index->gone(index->gone_arg, &node->rec);
}

void lock_index_set_listener(struct lock_index *index, lock_removed_fn *gone,
			     void *arg)
{
	index->gone = gone;
	index->gone_arg = arg;
}

void lock_index_release(struct lock_index *index, struct lock_node *node)
{
	node_leave(index, node);
	report_removed(index, node);
	free_node(index, node);
}

/* First removes the new nodes, because old ones may have the same start and holder. */
void lock_index_abort(struct lock_index *index)
{
	struct lock_node *node;

	SLIST_FOREACH(node, &index->changes, change)
	if (node->inside && !node->was_inside)
		node_leave(index, node);
	SLIST_FOREACH(node, &index->changes, change)
	if (!node->inside && node->was_inside)
		node_enter(index, node);
	lock_index_commit(index);
}

void lock_index_commit(struct lock_index *index)
{
	struct lock_node *node;

	while ((node = SLIST_FIRST(&index->changes))) {
		SLIST_REMOVE_HEAD(&index->changes, change);
		node->noted = false;
		if (!node->inside) {
			report_removed(index, node);
			free_node(index, node);
			continue;
		}
		node->was_inside = true;
	}
}

static void free_tree(struct lock_index *index, struct lock_node *node)
{
	if (!node)
		return;
	free_tree(index, node->child[0]);
	free_tree(index, node->child[1]);
	free_node(index, node);
}

void lock_index_close(struct lock_index *index)
{
	struct lock_file *file, *next;

	if (!index)
		return;
	lock_index_abort(index);
	HASH_ITER(hh, index->files, file, next)
		free_tree(index, file->root);
	free(index);
}

/* ---- searches ---- */

/* The furthest end at or below node of other holders than that of want. */
static uint64_t furthest_end(const struct lock_node *node, enum kind kind,
			     const struct lock_rec *want)
{
	const struct furthest *f = &node->furthest[kind];
	const struct lock_node *most = f->first;

	if (most && lock_same_holder(&most->rec, want))
		most = f->second;
	return most ? most->rec.end : 0;
}

static bool is_conflict(const struct lock_rec *rec, enum kind kind,
			const struct lock_rec *want)
{
	return !lock_same_holder(rec, want) &&
	       (kind == ANY || rec->type == LOCK_EXCLUSIVE) &&
	       rec->start < want->end && want->start < rec->end;
}

/*
 * Suppose that the left subtree reaches beyond want's start, but has no conflict.  Then
 * one of its locks starts at or after want's end, and so do all locks on the right.
 */
const struct lock_rec *lock_index_find(const struct lock_index *index,
				       const struct lock_rec *want,
				       unsigned int *steps)
{
	enum kind kind = want->type == LOCK_EXCLUSIVE ? ANY : EXCLUSIVE;
	const struct lock_file *file;
	const struct lock_node *node, *left;

	file = find_file((struct lock_index *)(uintptr_t)index, want->handle,
			 want->space);
	node = file ? file->root : NULL;
	for (; node; ++*steps) {
		left = node->child[0];
		if (left && furthest_end(left, kind, want) > want->start)
			node = left;
		else if (is_conflict(&node->rec, kind, want))
			return &node->rec;
		else
			node = node->rec.start < want->end ? node->child[1]
							   : NULL;
	}
	return NULL;
}
