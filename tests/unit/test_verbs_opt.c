/* SPDX-License-Identifier: BSD-2-Clause */
/* test_verbs_opt.c - what PVFS_RDMA may say. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "verbs_opt.h"

#define LONGEST                                                                \
	"1234567890123456789012345678901234567890"                             \
	"123456789012345678901234567890123456789"

static const struct {
	const char *text;
	struct vb_opt opt;
} good[] = {
	{ "", { "", 0, 0 } },
	{ "sl=3", { "", 3, 0 } },
	{ "tc=106", { "", 0, 106 } },
	{ "device=mlx5_0:1,sl=15,tc=255", { "mlx5_0:1", 15, 255 } },
	{ "tc=000,device=rxe0,", { "rxe0", 0, 0 } },
	{ "device=" LONGEST, { LONGEST, 0, 0 } },
};

static const char *const bad[] = {
	"sl",	       "sl=",	    "sl=16",   "sl=-1",
	"sl=3x",       "tc=256",    "tc=1000", "sl=4294967297",
	",",	       "device",    "device=", "sl=1,,tc=1",
	"colour=blue", "sl=1 tc=2", " sl=1",   "device=" LONGEST "0",
};

START_TEST(accepted)
{
	struct vb_opt opt;

	ck_assert_int_eq(vb_opt_parse(good[_i].text, &opt), 0);
	ck_assert_str_eq(opt.device, good[_i].opt.device);
	ck_assert_uint_eq(opt.service_level, good[_i].opt.service_level);
	ck_assert_uint_eq(opt.traffic_class, good[_i].opt.traffic_class);
}
END_TEST

START_TEST(refused)
{
	struct vb_opt opt = { "as before", 1, 2 };

	ck_assert_int_eq(vb_opt_parse(bad[_i], &opt), -EINVAL);
	ck_assert_str_eq(opt.device, "as before");
}
END_TEST

START_TEST(the_program_wins)
{
	struct tp_dev_attr attr = { .device = "rxe1", .traffic_class = 7 };
	struct vb_opt opt;

	ck_assert_int_eq(setenv("PVFS_RDMA", "device=rxe0,sl=3,tc=4", 1), 0);
	ck_assert_int_eq(vb_opt_get(&attr, &opt), 0);
	ck_assert_str_eq(opt.device, "rxe1");
	ck_assert_uint_eq(opt.service_level, 3);
	ck_assert_uint_eq(opt.traffic_class, 7);
	ck_assert_int_eq(setenv("PVFS_RDMA", "sl=99", 1), 0);
	ck_assert_int_eq(vb_opt_get(&attr, &opt), -EINVAL);
	ck_assert_int_eq(unsetenv("PVFS_RDMA"), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("verbs_opt");
	TCase *tc = tcase_create("verbs_opt");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_loop_test(tc, accepted, 0, sizeof(good) / sizeof(good[0]));
	tcase_add_loop_test(tc, refused, 0, sizeof(bad) / sizeof(bad[0]));
	tcase_add_test(tc, the_program_wins);
	suite_add_tcase(suite, tc);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
