/* SPDX-License-Identifier: BSD-2-Clause */
/* test_copyset.c - which copysets store a file, in both directions. */
#include <check.h>
#include <stdlib.h>

#include "common/dist/copyset_wire.h"
#include "tests/run_suite.h"

START_TEST(of_each_server)
{
	const struct ring ring = { .n = 5 };
	const struct dist d = { .base = 3, .pcount = 4, .ssize = 64 };

	ck_assert_uint_eq(copyset_of(&d, &ring, 0), 3);
	ck_assert_uint_eq(copyset_of(&d, &ring, 1), 4);
	ck_assert_uint_eq(copyset_of(&d, &ring, 2), 0);
	ck_assert_uint_eq(copyset_of(&d, &ring, 3), 1);
}
END_TEST

START_TEST(of_another_ring)
{
	const struct ring ring = { .id = 1, .first = 1030, .n = 5 };
	const struct dist d = { .base = 4, .pcount = 2, .ring = 1 };

	ck_assert_uint_eq(copyset_of(&d, &ring, 0), 1034);
	ck_assert_uint_eq(copyset_of(&d, &ring, 1), 1030);
	ck_assert(copyset_has(1034, &d, &ring));
	ck_assert(copyset_has(1030, &d, &ring));
	ck_assert(!copyset_has(1031, &d, &ring));
	ck_assert(!copyset_has(1035, &d, &ring));
	ck_assert(!copyset_has(1029, &d, &ring));
	ck_assert(!copyset_has(4, &d, &ring));
}
END_TEST

static bool is_listed(uint32_t copyset, const struct dist *d,
		      const struct ring *ring)
{
	for (uint32_t k = 0; k < d->pcount; k++)
		if (copyset_of(d, ring, k) == copyset)
			return true;
	return false;
}

START_TEST(both_directions_agree)
{
	struct ring ring = { 0 };
	struct dist d = { .ssize = 64 };

	for (ring.n = 1; ring.n <= 6; ring.n++)
		for (d.base = 0; d.base < ring.n; d.base++)
			for (d.pcount = 1; d.pcount <= ring.n; d.pcount++)
				for (uint32_t c = 0; c < 2 * ring.n; c++)
					ck_assert(copyset_has(c, &d, &ring) ==
						  is_listed(c, &d, &ring));
}
END_TEST

START_TEST(sums_do_not_overflow)
{
	const struct ring ring = { .n = UINT32_MAX };
	const struct dist d = { .base = UINT32_MAX - 1, .pcount = 6 };

	ck_assert_uint_eq(copyset_of(&d, &ring, 5), 4);
	ck_assert(copyset_has(UINT32_MAX - 1, &d, &ring));
	ck_assert(copyset_has(4, &d, &ring));
	ck_assert(!copyset_has(5, &d, &ring));
	ck_assert(!copyset_has(UINT32_MAX - 2, &d, &ring));
}
END_TEST

START_TEST(in_messages)
{
	const struct copyset set = { .id = COPYSET_END - 1,
				     .version = 7,
				     .losses = 2,
				     .n = 2,
				     .member = { { 1023, COPYSET_OFFLINE },
						 { 3, COPYSET_SERVING } } };
	const struct ring ring = { 1, 2, 1024, 12 };
	const struct wire_copyset wire_set = copyset_to_wire(&set);
	const struct wire_ring wire_ring = ring_to_wire(&ring);
	const struct copyset set_back = copyset_from_wire(&wire_set);
	const struct ring ring_back = ring_from_wire(&wire_ring);

	ck_assert_mem_eq(&set_back, &set, sizeof(set));
	ck_assert_mem_eq(&ring_back, &ring, sizeof(ring));
	ck_assert_uint_eq(le16toh(wire_set.member[0].iod), 1023);
	ck_assert_uint_eq(copyset_primary(&set_back), 3);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("copyset");
	TCase *tc = tcase_create("copyset");

	tcase_add_test(tc, of_each_server);
	tcase_add_test(tc, of_another_ring);
	tcase_add_test(tc, both_directions_agree);
	tcase_add_test(tc, sums_do_not_overflow);
	tcase_add_test(tc, in_messages);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
