/* SPDX-License-Identifier: BSD-2-Clause */
/* itree.c - an AVL tree with the highest end of each subtree. */
#include "common/buffer/itree.h"

#include <stdbool.h>
#include <stddef.h>

static int node_height(const struct itree_node *n)
{
	return n ? n->height : 0;
}

/* Orders equal starts by the addresses of the nodes; any fixed order works. */
static bool is_before(const struct itree_node *a, const struct itree_node *b)
{
	return a->lo != b->lo ? a->lo < b->lo : (uintptr_t)a < (uintptr_t)b;
}

static void update_node(struct itree_node *n)
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
static struct itree_node *rotate_node(struct itree_node *n, int side)
{
	struct itree_node *up = n->child[side];

	n->child[side] = up->child[!side];
	up->child[!side] = n;
	update_node(n);
	update_node(up);
	return up;
}

/* Rebalances n after one side grew or shrank by one. Returns the new top. */
static struct itree_node *balance_node(struct itree_node *n)
{
	int lean = node_height(n->child[1]) - node_height(n->child[0]);
	int side = lean > 0;
	struct itree_node *c = n->child[side];

	update_node(n);
	if (lean >= -1 && lean <= 1)
		return n;
	if (node_height(c->child[!side]) > node_height(c->child[side]))
		n->child[side] = rotate_node(c, !side);
	return rotate_node(n, side);
}

static struct itree_node *insert_node(struct itree_node *n,
				      struct itree_node *node)
{
	int side;

	if (!n)
		return node;
	side = is_before(n, node);
	n->child[side] = insert_node(n->child[side], node);
	return balance_node(n);
}

void itree_insert(struct itree *tree, struct itree_node *node)
{
	node->child[0] = node->child[1] = NULL;
	update_node(node);
	tree->root = insert_node(tree->root, node);
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
	return balance_node(n);
}

static struct itree_node *cut_node(struct itree_node *n,
				   struct itree_node *node)
{
	struct itree_node *next, *rest;
	int side;

	if (n != node) {
		side = is_before(n, node);
		n->child[side] = cut_node(n->child[side], node);
		return balance_node(n);
	}
	if (!n->child[1])
		return n->child[0];
	rest = cut_first(n->child[1], &next);
	next->child[0] = n->child[0];
	next->child[1] = rest;
	return balance_node(next);
}

void itree_remove(struct itree *tree, struct itree_node *node)
{
	tree->root = cut_node(tree->root, node);
}

static struct itree_node *first_overlap(struct itree_node *n,
					const struct itree_node *after,
					uintptr_t lo, uintptr_t hi)
{
	struct itree_node *found;

	while (n && n->max > lo) {
		if (!after || is_before(after, n)) {
			found = first_overlap(n->child[0], after, lo, hi);
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
	return first_overlap(tree->root, after, lo, hi);
}
