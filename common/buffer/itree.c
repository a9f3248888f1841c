/* SPDX-License-Identifier: BSD-2-Clause */
/* itree.c - an AVL tree with the highest end of each subtree. */
#include "common/buffer/itree.h"

#include <stdbool.h>
#include <stddef.h>

static int height(const struct itree_node *n)
{
	return n ? n->height : 0;
}

/* Orders equal starts by the addresses of the nodes; any fixed order works. */
static bool before(const struct itree_node *a, const struct itree_node *b)
{
	return a->lo != b->lo ? a->lo < b->lo : (uintptr_t)a < (uintptr_t)b;
}

static void update(struct itree_node *n)
{
	int i;

	n->height = 1;
	n->max = n->hi;
	for (i = 0; i < 2; i++) {
		const struct itree_node *c = n->child[i];

		if (!c)
			continue;
		if (c->height >= n->height)
			n->height = c->height + 1;
		if (c->max > n->max)
			n->max = c->max;
	}
}

/* Rotates the child on that side to the top and returns it. */
static struct itree_node *rotate(struct itree_node *n, int side)
{
	struct itree_node *up = n->child[side];

	n->child[side] = up->child[!side];
	up->child[!side] = n;
	update(n);
	update(up);
	return up;
}

/* Rebalances n after one side grew or shrank by one. Returns the new top. */
static struct itree_node *balance(struct itree_node *n)
{
	int lean = height(n->child[1]) - height(n->child[0]);
	int side = lean > 0;
	struct itree_node *c = n->child[side];

	update(n);
	if (lean >= -1 && lean <= 1)
		return n;
	if (height(c->child[!side]) > height(c->child[side]))
		n->child[side] = rotate(c, !side);
	return rotate(n, side);
}

static struct itree_node *insert(struct itree_node *n, struct itree_node *node)
{
	int side;

	if (!n)
		return node;
	side = before(n, node);
	n->child[side] = insert(n->child[side], node);
	return balance(n);
}

void itree_insert(struct itree *tree, struct itree_node *node)
{
	node->child[0] = node->child[1] = NULL;
	update(node);
	tree->root = insert(tree->root, node);
}

/* Removes the first node of n and stores it in *first. Returns the rest. */
static struct itree_node *cut_first(struct itree_node *n,
				    struct itree_node **first)
{
	if (!n->child[0]) {
		*first = n;
		return n->child[1];
	}
	n->child[0] = cut_first(n->child[0], first);
	return balance(n);
}

static struct itree_node *cut(struct itree_node *n, struct itree_node *node)
{
	struct itree_node *next, *rest;
	int side;

	if (n != node) {
		side = before(n, node);
		n->child[side] = cut(n->child[side], node);
		return balance(n);
	}
	if (!n->child[1])
		return n->child[0];
	rest = cut_first(n->child[1], &next);
	next->child[0] = n->child[0];
	next->child[1] = rest;
	return balance(next);
}

void itree_remove(struct itree *tree, struct itree_node *node)
{
	tree->root = cut(tree->root, node);
}

static struct itree_node *find(struct itree_node *n,
			       const struct itree_node *after, uintptr_t lo,
			       uintptr_t hi)
{
	struct itree_node *found;

	while (n && n->max > lo) {
		if (!after || before(after, n)) {
			found = find(n->child[0], after, lo, hi);
			if (found)
				return found;
			if (n->lo < hi && n->hi > lo)
				return n;
		}
		if (n->lo >= hi)
			return NULL;
		n = n->child[1];
	}
	return NULL;
}

struct itree_node *itree_next(const struct itree *tree,
			      const struct itree_node *after, uintptr_t lo,
			      uintptr_t hi)
{
	return find(tree->root, after, lo, hi);
}
