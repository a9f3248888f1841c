/* SPDX-License-Identifier: BSD-2-Clause */
/* test_rdma_opt.c - valid values of PVFS_RDMA and of the settings of RDMA. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/transport/rdma_opt.h"
#include "tests/run_suite.h"

#define LONGEST                                                                \
	"1234567890123456789012345678901234567890"                             \
	"123456789012345678901234567890123456789"

static const struct {
	const char *text;
	struct rdma_opt opt;
} good[] = {
	{ "", { "", "", 0, 0 } },
	{ "sl=3", { "", "", 3, 0 } },
	{ "tc=106", { "", "", 0, 106 } },
	{ "device=mlx5_0:1,sl=15,tc=255", { "mlx5_0:1", "", 15, 255 } },
	{ "tc=000,device=rxe0,", { "rxe0", "", 0, 0 } },
	{ "device=" LONGEST, { LONGEST, "", 0, 0 } },
	{ "bulk_sl=0,sl=2", { "", "", 2, 0, 1, 0 } },
	{ "bulk_tc=255,bulk_sl=15", { "", "", 0, 0, 16, 256 } },
	{ "device=mlx5_0/mlx5_1:2", { "mlx5_0/mlx5_1:2", "", 0, 0 } },
	{ "device=a/b/c/d,sl=1", { "a/b/c/d", "", 1, 0 } },
	{ "gid=3", { "", "3", 0, 0 } },
	{ "gid=10.0.0.7,sl=1", { "", "10.0.0.7", 1, 0 } },
	{ "gid=fe80::1", { "", "fe80::1", 0, 0 } },
};

static const char *const bad[] = {
	"sl",
	"sl=",
	"sl=16",
	"sl=-1",
	"sl=3x",
	"tc=256",
	"tc=1000",
	"bulk_sl=16",
	"bulk_tc=256",
	"bulk_sl=1,bulk_sl=1",
	"sl=4294967297",
	",",
	"device",
	"device=",
	"sl=1,,tc=1",
	"sl=1,tc=2,sl=1",
	"colour=blue",
	"sl=1 tc=2",
	" sl=1",
	"device=" LONGEST "0",
	"device=a/",
	"device=/a",
	"device=a//b",
	"device=a/b/a",
	"device=a/b:0",
	"device=a/b/c/d/e",
	"gid=",
	"gid=-1",
	"gid=1000",
	"gid=10.0.0",
	"device=:1",
	"device=rxe0:",
	"device=a:b",
	"device=a:0",
	"gid=::g",
	"device=a:256",
	"gid=" LONGEST "1",
};

START_TEST(accepted)
{
	struct rdma_opt opt = { 0 };

	ck_assert_int_eq(rdma_opt_parse(good[_i].text, &opt), 0);
	ck_assert_str_eq(opt.device, good[_i].opt.device);
	ck_assert_str_eq(opt.gid, good[_i].opt.gid);
	ck_assert_uint_eq(opt.service_level, good[_i].opt.service_level);
	ck_assert_uint_eq(opt.bulk_service_level,
			  good[_i].opt.bulk_service_level);
	ck_assert_uint_eq(opt.bulk_traffic_class,
			  good[_i].opt.bulk_traffic_class);
	ck_assert_uint_eq(opt.traffic_class, good[_i].opt.traffic_class);
}
END_TEST

START_TEST(refused)
{
	struct rdma_opt opt = { "as before", "1", 2, 3 };

	ck_assert_int_eq(rdma_opt_parse(bad[_i], &opt), -EINVAL);
	ck_assert_str_eq(opt.device, "as before");
	ck_assert_str_eq(opt.gid, "1");
	ck_assert_uint_eq(opt.service_level, 2);
}
END_TEST

START_TEST(the_environment_wins)
{
	struct rdma_opt opt = { "rxe1", "2", 0, 7 };

	ck_assert_int_eq(setenv("PVFS_RDMA", "device=rxe0,sl=3", 1), 0);
	ck_assert_int_eq(rdma_opt_env(&opt, NULL), 0);
	ck_assert_str_eq(opt.device, "rxe0");
	ck_assert_str_eq(opt.gid, "2");
	ck_assert_uint_eq(opt.service_level, 3);
	ck_assert_uint_eq(opt.traffic_class, 7);
	ck_assert_int_eq(setenv("PVFS_RDMA", "sl=99", 1), 0);
	ck_assert_int_eq(rdma_opt_env(&opt, NULL), -EINVAL);
	ck_assert_int_eq(unsetenv("PVFS_RDMA"), 0);
}
END_TEST

START_TEST(says_what_it_wants)
{
	struct rdma_opt opt = { 0 };

	ck_assert_int_eq(rdma_opt_set(&opt, "colour", "blue"), -ENOENT);
	ck_assert_ptr_null(rdma_opt_want("colour"));
	ck_assert_str_eq(rdma_opt_want("sl"), "0 to 15");
}
END_TEST

START_TEST(devices)
{
	char name[RDMA_DEVICE_MAX];
	struct rdma_opt opt = { 0 };

	ck_assert_int_eq(rdma_opt_device(&opt, 0, name), 0);
	ck_assert_str_eq(name, "");
	ck_assert_int_eq(rdma_opt_device(&opt, 1, name), -ENOENT);
	ck_assert_int_eq(rdma_opt_set(&opt, "device", "rxe0"), 0);
	ck_assert_int_eq(rdma_opt_device(&opt, 0, name), 1);
	ck_assert_str_eq(name, "rxe0");
	ck_assert_int_eq(rdma_opt_device(&opt, 1, name), -ENOENT);
	ck_assert_int_eq(rdma_opt_set(&opt, "device", "rxe0,rxe1:2"), 0);
	ck_assert_int_eq(rdma_opt_device(&opt, 0, name), 2);
	ck_assert_str_eq(name, "rxe0");
	ck_assert_int_eq(rdma_opt_device(&opt, 1, name), 2);
	ck_assert_str_eq(name, "rxe1:2");
	ck_assert_int_eq(rdma_opt_device(&opt, 2, name), -ENOENT);
	ck_assert_int_eq(rdma_opt_set(&opt, "device", "a,,b"), -EINVAL);
	ck_assert_str_eq(opt.device, "rxe0/rxe1:2");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("rdma_opt");
	TCase *tc = tcase_create("rdma_opt");

	tcase_add_loop_test(tc, accepted, 0, sizeof(good) / sizeof(good[0]));
	tcase_add_loop_test(tc, refused, 0, sizeof(bad) / sizeof(bad[0]));
	tcase_add_test(tc, devices);
	tcase_add_test(tc, the_environment_wins);
	tcase_add_test(tc, says_what_it_wants);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
