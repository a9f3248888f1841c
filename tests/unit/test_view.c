/* SPDX-License-Identifier: BSD-2-Clause */
/* test_view.c - partitions, compared with a count of single bytes. */
#include <check.h>
#include <errno.h>

#include "tests/run_suite.h"
#include "client/lib/io/file_view.h"

static const struct fpart good[] = {
	{ 0 },
	{ .offset = 7 },
	{ .offset = 0, .gsize = 1, .stride = 1 },
	{ .offset = 3, .gsize = 1, .stride = 2 },
	{ .offset = 10, .gsize = 4, .stride = 4 },
	{ .offset = 5, .gsize = 8, .stride = 31 },
	{ .offset = 0, .gsize = 64, .stride = 100 },
};

#define GOOD (int)(sizeof(good) / sizeof(good[0]))

static void setup(int i, struct file_view *view)
{
	ck_assert_int_eq(view_from_part(&good[i], view), 0);
}

/* The definition in pvfs.h. */
static uint64_t offset_of(const struct fpart *p, uint64_t n)
{
	uint64_t g = (uint64_t)p->gsize;

	if (!g)
		return (uint64_t)p->offset + n;
	return (uint64_t)p->offset + n / g * (uint64_t)p->stride + n % g;
}

START_TEST(maps_as_documented)
{
	struct file_view view;
	uint64_t n, off;

	setup(_i, &view);
	for (n = 0; n < 500; n++) {
		ck_assert(view_map(&view, n, &off));
		ck_assert_uint_eq(off, offset_of(&good[_i], n));
	}
}
END_TEST

START_TEST(counts_bytes_before)
{
	struct file_view view;
	uint64_t size, n = 0;

	setup(_i, &view);
	for (size = 0; size < 2000; size++) {
		ck_assert_uint_eq(view_before(&view, size), n);
		if (offset_of(&good[_i], n) == size)
			n++;
	}
}
END_TEST

START_TEST(walks_every_byte_once)
{
	uint64_t pos, len, off, n, want, k;
	struct view_iter it;
	struct file_view view;

	setup(_i, &view);
	for (pos = 0; pos < 70; pos += 3) {
		for (len = 0; len < 200; len += 7) {
			want = pos;
			view_iter_init(&it, &view, pos, len);
			while (view_iter_next(&it, &off, &n)) {
				ck_assert_uint_gt(n, 0);
				for (k = 0; k < n; k++)
					ck_assert_uint_eq(off + k,
							  offset_of(&good[_i],
								    want++));
			}
			ck_assert_uint_eq(want, pos + len);
		}
	}
}
END_TEST

START_TEST(whole_file_is_one_piece)
{
	struct file_view view;
	struct view_iter it;
	uint64_t off, n;

	setup(4, &view);
	view_iter_init(&it, &view, 1, 1000);
	ck_assert(view_iter_next(&it, &off, &n));
	ck_assert_uint_eq(n, 1000);
}
END_TEST

START_TEST(refuses_what_cannot_be)
{
	static const struct fpart bad[] = {
		{ .offset = -1 }, { .gsize = -1 },
		{ .stride = -1 }, { .gsize = 5, .stride = 4 },
		{ .gsize = 1 },
	};
	struct file_view view = { .off = 99 };
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_int_eq(view_from_part(&bad[i], &view), -EINVAL);
	ck_assert_uint_eq(view.off, 99);
}
END_TEST

START_TEST(knows_the_largest_offset)
{
	struct file_view all = { 0 }, far = { .off = INT64_MAX - 10 };
	struct file_view wide = { .gsize = 1, .stride = 1ull << 62 };
	uint64_t end;

	ck_assert(view_end(&all, 0, INT64_MAX, &end));
	ck_assert_uint_eq(end, INT64_MAX);
	ck_assert(!view_end(&all, 1, INT64_MAX, &end));
	ck_assert(!view_end(&all, 0, UINT64_MAX, &end));
	ck_assert(view_end(&far, 0, 10, &end));
	ck_assert(!view_end(&far, 0, 11, &end));
	ck_assert(view_end(&wide, 0, 2, &end));
	ck_assert_uint_eq(end, (1ull << 62) + 1);
	ck_assert(!view_end(&wide, 0, 3, &end));
	ck_assert(!view_end(&wide, 1ull << 61, 1, &end));
}
END_TEST

START_TEST(goes_there_and_back)
{
	struct fpart part;
	struct file_view view;

	setup(_i, &view);
	view_to_part(&view, &part);
	ck_assert_int_eq(part.offset, good[_i].offset);
	ck_assert_int_eq(part.gsize, good[_i].gsize);
	ck_assert_int_eq(part.stride, good[_i].stride);
	ck_assert_int_eq(part.gstride, 0);
	ck_assert_int_eq(part.ngroups, 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("view");
	TCase *tc = tcase_create("view");

	tcase_add_loop_test(tc, maps_as_documented, 0, GOOD);
	tcase_add_loop_test(tc, counts_bytes_before, 0, GOOD);
	tcase_add_loop_test(tc, walks_every_byte_once, 0, GOOD);
	tcase_add_test(tc, whole_file_is_one_piece);
	tcase_add_test(tc, refuses_what_cannot_be);
	tcase_add_test(tc, knows_the_largest_offset);
	tcase_add_loop_test(tc, goes_there_and_back, 0, GOOD);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
