/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_fast.c - Fast RDMA buffers: one end announces its buffers, and the other one writes to them.
 * Numbers are issued once, and budgets hold.  A check whether memory is registered does not
 * register it.
 */
#include <check.h>
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "common/buffer/fast.h"
#include "tests/unit/mock_tp.h"
#include "tests/run_suite.h"

#define BYTES ((size_t)FAST_COUNT * FAST_SIZE)

static struct tp_dev *dev;
static struct rails rails;

static void setup(void)
{
	ck_assert_int_eq(tp_dev_open("mock", NULL, &dev), 0);
	rails = (struct rails){ .dev = { NULL, dev }, .n = 2 };
}

static void teardown(void)
{
	ck_assert_int_eq(mock.mrs, 0);
	tp_dev_close(dev);
}

START_TEST(place_is_where_the_buffers_are)
{
	struct fast_peer peer = { 0 };
	struct fast_place place;
	struct fast *f;
	unsigned int i;

	ck_assert_int_eq(fast_open(&rails, 1, NULL, NULL, &f), 0);
	ck_assert_int_eq(mock.mrs, 1);
	fast_place(f, &place);
	ck_assert_uint_eq(place.rkey, fast_rkey(f));
	ck_assert_int_eq(fast_peer_set(&peer, &place), 0);
	for (i = 0; i < FAST_COUNT; i++) {
		ck_assert_uint_eq(fast_peer_addr(&peer, i),
				  (uintptr_t)fast_buf(f, i));
		memset(fast_buf(f, i), (int)i, FAST_SIZE);
	}
	for (i = 0; i < FAST_COUNT; i++)
		ck_assert_uint_eq(((uint8_t *)fast_buf(f, i))[FAST_SIZE - 1],
				  i);
	fast_close(f);
	fast_close(NULL);
}
END_TEST

static size_t not_zero(const uint8_t *p)
{
	size_t i, n = 0;

	for (i = 0; i < BYTES; i++)
		n += p[i] != 0;
	return n;
}

/* Buffers contain neither old data of the heap nor bytes of an earlier connection. */
START_TEST(nothing_of_others_is_in_them)
{
	void *before;
	struct fast *f;

	mallopt(M_MMAP_THRESHOLD, 4 << 20);
	before = aligned_alloc(4096, BYTES);
	ck_assert_ptr_nonnull(before);
	memset(before, 0xa5, BYTES);
	free(before);
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(fast_open(&rails, 1, NULL, NULL, &f), 0);
		ck_assert_uint_eq(not_zero(fast_buf(f, 0)), 0);
		memset(fast_buf(f, 0), 0x5a, BYTES);
		fast_close(f);
	}
}
END_TEST

START_TEST(places_that_cannot_be)
{
	const struct fast_place good = { 4096, 7, FAST_SIZE, FAST_COUNT };
	struct fast_place bad[] = { good, good, good, good, good };
	struct fast_peer peer = { 0 };
	unsigned int i;

	bad[0].count = 0;
	bad[1].count = FAST_COUNT + 1;
	bad[2].size = FAST_SIZE - 1;
	bad[3].size = UINT32_MAX;
	bad[4].addr = UINT64_MAX - FAST_SIZE;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		ck_assert_int_eq(fast_peer_set(&peer, &bad[i]), -EINVAL);
		ck_assert_uint_eq(peer.place.count, 0);
	}
	ck_assert_int_eq(fast_peer_set(&peer, &good), 0);
	ck_assert_uint_eq(peer.place.count, FAST_COUNT);
}
END_TEST

START_TEST(numbers_are_given_once)
{
	uint32_t busy = 0, seen = 0;
	unsigned int i;
	int n;

	ck_assert_int_eq(fast_take(&busy, 0), -1);
	for (i = 0; i < FAST_COUNT; i++) {
		n = fast_take(&busy, FAST_COUNT);
		ck_assert_int_ge(n, 0);
		ck_assert_int_lt(n, (int)FAST_COUNT);
		ck_assert(!(seen >> n & 1));
		seen |= 1u << n;
	}
	ck_assert_int_eq(fast_take(&busy, FAST_COUNT), -1);
	fast_give(&busy, 2);
	ck_assert_int_eq(fast_take(&busy, 2), -1);
	ck_assert_int_eq(fast_take(&busy, FAST_COUNT), 2);
}
END_TEST

START_TEST(a_budget_is_kept)
{
	struct fast_budget budget = { .max = 2 * BYTES + 1 };
	struct fast *f[3];

	ck_assert_int_eq(fast_open(&rails, 1, &budget, NULL, &f[0]), 0);
	ck_assert_int_eq(fast_open(&rails, 1, &budget, NULL, &f[1]), 0);
	ck_assert_int_eq(fast_open(&rails, 1, &budget, NULL, &f[2]), -ENOBUFS);
	ck_assert_uint_eq(budget.refused, 1);
	ck_assert_uint_eq(budget.used, 2 * BYTES);
	fast_close(f[0]);
	ck_assert_int_eq(fast_open(&rails, 1, &budget, NULL, &f[2]), 0);
	fast_close(f[1]);
	fast_close(f[2]);
	ck_assert_uint_eq(budget.used, 0);
}
END_TEST

/* ---- memory that is registered already ---- */

START_TEST(find_does_not_register)
{
	char mem[64];
	struct rail_mem m;

	rail_mem_init(&m, mem, sizeof(mem), TP_REMOTE_READ);
	ck_assert(!rail_mem_find(&m, &rails, 1));
	m.keep = true; /* but the registration is not kept */
	ck_assert(!rail_mem_find(&m, &rails, 1));
	ck_assert_int_eq(mock.mrs, 0);
	ck_assert_int_eq(rail_mem_on(&m, &rails, 1), 0);
	ck_assert(rail_mem_find(&m, &rails, 1));
	ck_assert_int_eq(mock.mrs, 1);
	rail_mem_fini(&m);
}
END_TEST

START_TEST(find_has_what_is_kept)
{
	struct pins_attr attr = { .dev = dev, .mode = PINS_ON };
	struct rail_mem m;
	unsigned int tries;
	void *mem = aligned_alloc(4096, 8192);
	bool found = false;

	ck_assert_int_eq(pins_open(&attr, &rails.pins[1]), 0);
	for (tries = 0; tries < 100 && !found; tries++) {
		rail_mem_init(&m, mem, 8192, TP_REMOTE_READ);
		m.keep = true;
		found = rail_mem_find(&m, &rails, 1);
		ck_assert_int_eq(rail_mem_on(&m, &rails, 1), 0);
		rail_mem_fini(&m);
	}
	if (!found) {
		struct pins_stats st;

		pins_stats(rails.pins[1], &st);
		ck_assert_int_ne(st.keeps, 'y');
		fprintf(stderr, "skipped: nothing is kept here\n");
	}
	pins_close(rails.pins[1]);
	free(mem);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("fast");
	TCase *tc = tcase_create("fast");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, place_is_where_the_buffers_are);
	tcase_add_test(tc, nothing_of_others_is_in_them);
	tcase_add_test(tc, places_that_cannot_be);
	tcase_add_test(tc, numbers_are_given_once);
	tcase_add_test(tc, a_budget_is_kept);
	tcase_add_test(tc, find_does_not_register);
	tcase_add_test(tc, find_has_what_is_kept);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
