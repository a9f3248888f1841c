/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * itree.h - an interval tree: finds the ranges that overlap a given one.
 *
 * A balanced (AVL) tree ordered by the starts. Each node knows the highest end in its subtree.
 * Ranges may be equal, nested or overlap in part:
 *
 *	in the tree		|--a--|    |----b----|
 *			         |-c-|
 *	looked for		    |----------|	a, b, c, in this order
 *
 * Nodes are embedded in the caller's structures; nothing is allocated. (T. Cormen et al.,
 * Introduction to Algorithms, "Interval trees"; balancing by Adelson-Velsky and Landis.)
 */
#ifndef ITREE_H
#define ITREE_H

#include <stdint.h>

struct itree_node {
	/* the range [lo, hi), with lo < hi; it must not change while in the tree */
	uintptr_t lo, hi;
	/* private */
	uintptr_t max;
	struct itree_node *child[2];
	int height;
};

struct itree {
	struct itree_node *root; /* NULL if the tree is empty */
};

void itree_insert(struct itree *tree, struct itree_node *node);
/* node must be in the tree. */
void itree_remove(struct itree *tree, struct itree_node *node);
/*
 * Returns the node that overlaps [lo, hi) and follows the node `after` in the order of lo, or NULL
 * if there is none. If `after` is NULL, returns the first such node; otherwise `after` must be in
 * the tree.
 */
struct itree_node *itree_next(const struct itree *tree,
			      const struct itree_node *after, uintptr_t lo,
			      uintptr_t hi);

#endif
