/* SPDX-License-Identifier: BSD-2-Clause */
/* test_itree.c - random ranges in the tree, compared with a plain array. */
#include <check.h>
#include <stdbool.h>
#include <stdlib.h>

#include "common/buffer/itree.h"
#include "tests/unit/rnd.h"
#include "tests/run_suite.h"

#define NODES 300
#define STEPS 5000

static struct itree tree;
static struct itree_node node[NODES];
static bool in[NODES];
static struct rnd rnd;

/* Checks balance, order and each maximum.  Returns the height. */
static int check_tree(const struct itree_node *n, uintptr_t lo, uintptr_t hi)
{
	uintptr_t max;
	int l, r;

	if (!n)
		return 0;
	ck_assert(n->lo >= lo && n->lo <= hi);
	l = check_tree(n->child[0], lo, n->lo);
	r = check_tree(n->child[1], n->lo, hi);
	max = n->hi;
	if (l && n->child[0]->max > max)
		max = n->child[0]->max;
	if (r && n->child[1]->max > max)
		max = n->child[1]->max;
	ck_assert_uint_eq(n->max, max);
	ck_assert_int_le(abs(l - r), 1);
	ck_assert_int_eq(n->height, (l > r ? l : r) + 1);
	return n->height;
}

static bool overlaps(const struct itree_node *n, uintptr_t lo, uintptr_t hi)
{
	return n->lo < hi && lo < n->hi;
}

static void check_query(uintptr_t lo, uintptr_t hi)
{
	const struct itree_node *n = NULL, *last = NULL;
	int count = 0, i;

	while ((n = itree_next(&tree, n, lo, hi))) {
		ck_assert(in[n - node] && overlaps(n, lo, hi));
		ck_assert(!last || last->lo < n->lo ||
			  (last->lo == n->lo && last < n));
		last = n;
		count++;
	}
	for (i = 0; i < NODES; i++)
		count -= in[i] && overlaps(&node[i], lo, hi);
	ck_assert_int_eq(count, 0);
}

/* The starts are below span, and the lengths below len. */
static void run(uint64_t span, uint64_t len)
{
	uintptr_t lo;
	int i;

	rnd_init(&rnd, span + len);
	tree = (struct itree){ NULL };
	for (i = 0; i < NODES; i++)
		in[i] = false;
	for (int n = 0; n < STEPS; n++) {
		i = (int)rnd_in(&rnd, 0, NODES - 1);
		in[i] = !in[i];
		if (in[i]) {
			node[i].lo = rnd_in(&rnd, 0, span);
			node[i].hi = node[i].lo + rnd_in(&rnd, 1, len);
			itree_insert(&tree, &node[i]);
		} else {
			itree_remove(&tree, &node[i]);
		}
		if (n % 16 == 0)
			check_tree(tree.root, 0, UINTPTR_MAX);
		lo = rnd_in(&rnd, 0, span + len);
		check_query(lo, lo + rnd_in(&rnd, 1, len));
	}
	check_query(0, UINTPTR_MAX);
	for (i = 0; i < NODES; i++)
		if (in[i])
			itree_remove(&tree, &node[i]);
	ck_assert_ptr_null(tree.root);
}

START_TEST(mostly_apart)
{
	run(1000000, 1000);
}
END_TEST

START_TEST(mostly_overlapping)
{
	run(1000, 1000);
}
END_TEST

START_TEST(many_equal)
{
	run(7, 3);
}
END_TEST

/* Inserts in order, which would make an unbalanced tree a list. */
START_TEST(in_order)
{
	int i;

	tree = (struct itree){ NULL };
	for (i = 0; i < NODES; i++) {
		node[i].lo = (uintptr_t)i * 10;
		node[i].hi = node[i].lo + 10;
		in[i] = true;
		itree_insert(&tree, &node[i]);
	}
	ck_assert_int_le(check_tree(tree.root, 0, UINTPTR_MAX), 11);
	ck_assert_ptr_eq(itree_next(&tree, NULL, 100, 101), &node[10]);
	ck_assert_ptr_eq(itree_next(&tree, NULL, 95, 101), &node[9]);
	ck_assert_ptr_eq(itree_next(&tree, &node[9], 95, 101), &node[10]);
	ck_assert_ptr_null(itree_next(&tree, &node[10], 95, 101));
	ck_assert_ptr_null(itree_next(&tree, NULL, NODES * 10, UINTPTR_MAX));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("itree");
	TCase *tc = tcase_create("itree");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, mostly_apart);
	tcase_add_test(tc, mostly_overlapping);
	tcase_add_test(tc, many_equal);
	tcase_add_test(tc, in_order);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
