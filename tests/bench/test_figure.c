/* SPDX-License-Identifier: BSD-2-Clause */
/* test_figure.c - medians, ratios within rounds, goals, and their JSON. */
#include <check.h>
#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/bench/figure_int.h"
#include "tests/run_suite.h"

static const struct figure_desc desc = { .name = "f", .title = "t" };

static struct result *r;

static void setup(void)
{
	r = result_new("test", "the paper");
}

static void teardown(void)
{
	result_free(r);
}

static struct series *series(const char *name, const double *v, unsigned int n)
{
	struct series *s = figure_series(result_figure(r, &desc), name);

	for (unsigned int i = 0; i < n; i++)
		series_add(s, 4, NULL, v[i]);
	return s;
}

START_TEST(figures_and_series_are_made_once)
{
	struct figure *f = result_figure(r, &desc);

	ck_assert_ptr_eq(f, result_figure(r, &desc));
	ck_assert_ptr_eq(figure_series(f, "a"), figure_series(f, "a"));
	ck_assert_ptr_ne(figure_series(f, "a"), figure_series(f, "b"));
}
END_TEST

START_TEST(points_are_in_order_and_keep_their_rounds)
{
	struct series *s = series("a", (double[]){ 9, 1, 5 }, 3);

	series_add(s, 8, NULL, 2);
	series_add(s, 1, "one", 7);
	ck_assert_double_eq(series_median(s, 4), 5);
	ck_assert_double_eq(series_median(s, 8), 2);
	ck_assert(isnan(series_median(s, 3)));
	ck_assert_double_eq(STAILQ_FIRST(&s->points)->x, 1);
	ck_assert_str_eq(STAILQ_FIRST(&s->points)->label, "one");
	/* series_median() must not have sorted the values */
	ck_assert_double_eq(series_point(s, 4)->v[0], 9);
}
END_TEST

/* The ratios of the rounds are 2, 3 and 2, so their median is 2.  The ratio of the medians is 3. */
START_TEST(ratios_are_taken_within_a_round)
{
	struct series *a = series("a", (double[]){ 20, 3, 6 }, 3);
	struct series *b = series("b", (double[]){ 10, 1, 3 }, 3);

	ck_assert_double_eq(series_ratio(a, 4, b, 4), 2);
	ck_assert(isnan(series_ratio(a, 4, b, 5)));
}
END_TEST

START_TEST(a_round_beside_nothing_has_no_ratio)
{
	struct series *a = series("a", (double[]){ 20, 3, 6 }, 3);
	struct series *b = series("b", (double[]){ 10, 0, 2 }, 3);
	struct series *idle = series("idle", (double[]){ 0, 0, 0 }, 3);

	ck_assert_double_eq(series_ratio(a, 4, b, 4), 2.5);
	ck_assert(isnan(series_ratio(a, 4, idle, 4)));
	ck_assert_double_eq(series_ratio(idle, 4, a, 4), 0);
}
END_TEST

START_TEST(more_rounds_than_fit_are_left_out)
{
	struct series *s = series("a", NULL, 0);

	for (int i = 0; i < BENCH_ROUNDS_MAX + 5; i++)
		series_add(s, 4, NULL, 1);
	ck_assert_uint_eq(series_point(s, 4)->n, BENCH_ROUNDS_MAX);
}
END_TEST

START_TEST(goals_are_met_from_both_sides)
{
	struct finding f = { .goal = { "x", NULL, 3, false }, .value = 3 };

	ck_assert(goal_met(&f));
	f.value = 2.9;
	ck_assert(!goal_met(&f));
	f.goal.at_most = true;
	ck_assert(goal_met(&f));
}
END_TEST

/* So the first column of the table keeps its width. */
START_TEST(large_sizes_are_printed_in_one_word)
{
	static const struct figure_desc d = {
		.name = "f", .title = "t", .x = "bytes", .y = "y", .log_x = true
	};
	char *text = NULL;
	size_t size;
	FILE *out = stdout;

	series_add(figure_series(result_figure(r, &d), "a"), 4 << 20, NULL, 7);
	stdout = open_memstream(&text, &size);
	result_print(r);
	fclose(stdout);
	stdout = out;
	ck_assert_ptr_nonnull(strstr(text, "\n4M                     "));
	free(text);
}
END_TEST

static struct json_object *written(void)
{
	char dir[] = "/tmp/pvfs-figure.XXXXXX", path[64];
	struct json_object *o;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(result_write(r, dir), 0);
	snprintf(path, sizeof(path), "%s/test.json", dir);
	o = json_object_from_file(path);
	ck_assert_ptr_nonnull(o);
	unlink(path);
	rmdir(dir);
	return o;
}

static struct json_object *at(struct json_object *o, const char *key)
{
	ck_assert(json_object_object_get_ex(o, key, &o));
	return o;
}

START_TEST(json_has_all_that_was_found)
{
	static const struct goal goal = { "x", "3", 3, false };
	struct series *a = series("a", (double[]){ 20, 8 }, 2);
	struct series *b = series("b", (double[]){ 10, 2 }, 2);
	struct json_object *o, *f;

	result_ratio(r, &goal, a, 4, b, 4, "%s / %s", "a", "b");
	result_ratio(r, &goal, a, 5, b, 5, "no such points");
	result_missing(r, "verbs", "no %s", "device");
	o = written();
	ck_assert_uint_eq(json_object_array_length(at(o, "findings")), 1);
	f = json_object_array_get_idx(at(o, "findings"), 0);
	ck_assert_double_eq(json_object_get_double(at(f, "value")), 3);
	ck_assert(json_object_get_boolean(at(f, "met")));
	ck_assert_str_eq(json_object_get_string(at(f, "what")), "a / b");
	f = json_object_array_get_idx(at(o, "missing"), 0);
	ck_assert_str_eq(json_object_get_string(at(f, "why")), "no device");
	f = json_object_array_get_idx(at(o, "figures"), 0);
	ck_assert_str_eq(json_object_get_string(at(f, "name")), "test-f");
	ck_assert_uint_eq(json_object_array_length(at(f, "series")), 2);
	json_object_put(o);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("figure");
	TCase *tc = tcase_create("figure");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, figures_and_series_are_made_once);
	tcase_add_test(tc, points_are_in_order_and_keep_their_rounds);
	tcase_add_test(tc, ratios_are_taken_within_a_round);
	tcase_add_test(tc, a_round_beside_nothing_has_no_ratio);
	tcase_add_test(tc, more_rounds_than_fit_are_left_out);
	tcase_add_test(tc, goals_are_met_from_both_sides);
	tcase_add_test(tc, large_sizes_are_printed_in_one_word);
	tcase_add_test(tc, json_has_all_that_was_found);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
