/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_doctor.c - the sources of pvfs-doctor, and the end of a check that does not end by itself.
 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/tools/admin/doctor/checks.h"
#include "tests/run_suite.h"

static char root[] = "/tmp/doctor.XXXXXX";
static struct doctor d = { .root = root, .timeout_s = 1 };

static void put(const char *name, const char *text)
{
	char path[PATH_MAX];
	FILE *f = fopen(host_path(&d, path, "%s", name), "we");

	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	fclose(f);
}

static void setup(void)
{
	char path[PATH_MAX];

	ck_assert_ptr_nonnull(mkdtemp(root));
	ck_assert_int_eq(mkdir(host_path(&d, path, "/proc"), 0700), 0);
}

static void teardown(void)
{
	char path[PATH_MAX];

	unlink(host_path(&d, path, "/proc/meminfo"));
	unlink(host_path(&d, path, "/proc/n"));
	rmdir(host_path(&d, path, "/proc"));
	rmdir(root);
	memcpy(strrchr(root, '.'), ".XXXXXX", 7);
}

START_TEST(numbers)
{
	static const struct {
		const char *text;
		int rc;
		uint64_t n;
	} cases[] = {
		{ "0\n", 0, 0 },      { "18446744073709551615", 0, UINT64_MAX },
		{ "20 30\n", 0, 20 }, { "18446744073709551616", -EINVAL, 0 },
		{ "", -EINVAL, 0 },   { "x", -EINVAL, 0 },
		{ "1x", -EINVAL, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t n = 7;

		put("/proc/n", cases[i].text);
		ck_assert_int_eq(host_number(&d, &n, "/proc/n"), cases[i].rc);
		ck_assert_uint_eq(n, cases[i].rc ? 7 : cases[i].n);
	}
	ck_assert_int_eq(host_number(&d, &(uint64_t){ 0 }, "/proc/none"),
			 -ENOENT);
}
END_TEST

START_TEST(memory)
{
	uint64_t n;

	put("/proc/meminfo", "MemTotal:  16 kB\nSwapCached: 1 kB\n"
			     "HugePages_Free:   3\nBad:  x\n");
	ck_assert_int_eq(meminfo(&d, "MemTotal", &n), 0);
	ck_assert_uint_eq(n, 16384);
	ck_assert_int_eq(meminfo(&d, "HugePages_Free", &n), 0);
	ck_assert_uint_eq(n, 3);
	ck_assert_int_eq(meminfo(&d, "Mem", &n), -ENOENT);
	ck_assert_int_eq(meminfo(&d, "Cached", &n), -ENOENT);
	ck_assert_int_eq(meminfo(&d, "Bad", &n), -EINVAL);
}
END_TEST

START_TEST(limits)
{
	static const char text[] =
		"Limit                     Soft Limit  Hard Limit  Units\n"
		"Max open files            1024        4096        files\n"
		"Max locked memory         65536       unlimited   bytes\n";
	uint64_t soft = 7, hard = 7;

	ck_assert_int_eq(limits_parse(text, "Max files", &soft, &hard),
			 -EINVAL);
	ck_assert_int_eq(limits_parse("Max x 1", "Max x", &soft, &hard),
			 -EINVAL);
	ck_assert_uint_eq(soft, 7);
	ck_assert_int_eq(limits_parse(text, "Max open files", &soft, &hard), 0);
	ck_assert_uint_eq(soft, 1024);
	ck_assert_uint_eq(hard, 4096);
	ck_assert_int_eq(limits_parse(text, "Max locked memory", &soft, &hard),
			 0);
	ck_assert_uint_eq(soft, 65536);
	ck_assert_uint_eq(hard, UINT64_MAX);
}
END_TEST

START_TEST(daemon_conf)
{
	static const struct {
		const char *args; /* with a blank after each argument */
		const char *conf;
	} cases[] = {
		{ "pvfs-mgr ", CONF_DEFAULT },
		{ "pvfs-mgr -c /a ", "/a" },
		{ "pvfs-mgr -c/a ", "/a" },
		{ "pvfs-mgr --config /a.old ", "/a.old" },
		{ "pvfs-iod --config=/a --index 3 ", "/a" },
		{ "pvfs-iod --index 3 --conf /a ", "/a" },
		{ "pvfs-iod -c --check -i 0 ", "--check" },
		{ "pvfs-mgr --check --restore ", CONF_DEFAULT },
		{ "/x-c/pvfs-mgr ", CONF_DEFAULT },
		{ "pvfs-mgr --config ", "" },
		{ "pvfs-mgr --config /a --config /b", "/b" }, /* cut off */
	};
	char args[64];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t len = strlen(cases[i].args);

		memcpy(args, cases[i].args, len + 1);
		for (size_t k = 0; k < len; k++)
			args[k] = args[k] == ' ' ? '\0' : args[k];
		ck_assert_str_eq(limits_daemon_conf(args, len), cases[i].conf);
	}
}
END_TEST

START_TEST(rdma)
{
	ck_assert(rdma_state_is_up("4: ACTIVE"));
	ck_assert(!rdma_state_is_up("1: DOWN"));
	ck_assert(!rdma_state_is_up("ACTIVE_DEFER"));
	ck_assert(!rdma_state_is_up("5: ACTIVE_DEFER"));
	ck_assert(!rdma_state_is_up(""));
	ck_assert_int_eq(
		rdma_gid_kind("0000:0000:0000:0000:0000:0000:0000:0000"), 0);
	ck_assert_int_eq(
		rdma_gid_kind("fe80:0000:0000:0000:0000:0000:0000:0000"), 0);
	ck_assert_int_eq(
		rdma_gid_kind("fe80:0000:0000:0000:0002:c903:0000:0001"), 1);
	ck_assert_int_eq(
		rdma_gid_kind("0000:0000:0000:0000:0000:ffff:0a4d:0001"), 2);
	ck_assert_int_eq(rdma_gid_kind("nonsense"), 0);
}
END_TEST

START_TEST(fstab)
{
	static const struct {
		const char *line;
		bool has;
	} cases[] = {
		{ "mgr:/ /mnt fuse.pvfs port=1 0 0\n", true },
		{ " mgr:/\t/mnt\tpvfs", true },
		{ "# mgr:/ /mnt fuse.pvfs\n", false },
		{ "#mgr:/ /mnt fuse.pvfs\n", false },
		{ "/dev/sda / ext4 defaults\n", false },
		{ "pvfs fuse.pvfs\n", false },
		{ "\n", false },
		{ "", false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char line[128];

		strcpy(line, cases[i].line);
		ck_assert_int_eq(fstab_has_pvfs(line), cases[i].has);
	}
}
END_TEST

START_TEST(unmounted)
{
	char path[PATH_MAX];

	ck_assert_int_eq(mkdir(host_path(&d, path, "/etc"), 0700), 0);
	put("/etc/fstab", "/dev/a / ext4 x 0 1\n# /dev/b /com xfs x\n"
			  "/dev/b /data/ xfs x 0 2\n"
			  "/dev/c /data/my\\040disk xfs x 0 2\n"
			  "/dev/d none swap x 0 0\n");
	ck_assert_uint_eq(unmounted_above(&d, "/data/iod"),
			  0); /* unknown host */
	ck_assert_int_eq(mkdir(host_path(&d, path, "/proc/self"), 0700), 0);
	put("/proc/self/mounts",
	    "/dev/a / ext4 x 0 0\nproc /proc proc x 0 0\n");
	ck_assert_uint_eq(unmounted_above(&d, "/var/iod"), 0);
	ck_assert_uint_eq(unmounted_above(&d, "/com/iod"), 0);
	ck_assert_uint_eq(unmounted_above(&d, "/data2/iod"), 0);
	ck_assert_uint_eq(unmounted_above(&d, "/data/iod"), 5);
	ck_assert_uint_eq(unmounted_above(&d, "/data"), 5);
	ck_assert_uint_eq(unmounted_above(&d, "/data/my disk/iod"), 13);
	put("/proc/self/mounts",
	    "/dev/a / ext4 x 0 0\n/dev/b /data xfs x 0 0\n");
	ck_assert_uint_eq(unmounted_above(&d, "/data/iod"), 0);
	ck_assert_uint_eq(unmounted_above(&d, "/data/my disk/iod"), 13);
	put("/proc/self/mounts", "/dev/x /data/iod xfs x 0 0\n");
	ck_assert_uint_eq(unmounted_above(&d, "/data/iod"), 0);
	unlink(host_path(&d, path, "/proc/self/mounts"));
	rmdir(host_path(&d, path, "/proc/self"));
	unlink(host_path(&d, path, "/etc/fstab"));
	rmdir(host_path(&d, path, "/etc"));
}
END_TEST

START_TEST(fixes)
{
	static const struct {
		const char *line, *what, *fix;
	} cases[] = {
		{ "a: b; c; d", "a: b; c", "d" },
		{ "f:1: \"x\": write y; see z; the line is skipped",
		  "f:1: \"x\"", "write y; see z" },
		{ "a: b", "a", "b" },
		{ "a", "a", "a" },
		{ "", "", "" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char line[128];

		strcpy(line, cases[i].line);
		ck_assert_str_eq(conf_fix(line), cases[i].fix);
		ck_assert_str_eq(line, cases[i].what);
	}
}
END_TEST

START_TEST(space)
{
	ck_assert(!space_is_low(0, 0, 100)); /* no space is counted */
	ck_assert(space_is_low(99, 100, 100));
	ck_assert(space_is_low(199, 10000, 100));
	ck_assert(!space_is_low(200, 10000, 100));
}
END_TEST

/* ---- how checks run ---- */

static void says_much(const struct doctor *doctor, const struct subject *s)
{
	char fix[900];

	(void)s;
	memset(fix, 'f', sizeof(fix) - 1);
	fix[sizeof(fix) - 1] = '\0';
	for (int i = 0; i < 50; i++)
		doctor_find(doctor, fix, "%d", i);
	doctor_unseen(doctor, "this");
	doctor_note(doctor, "that");
}

/* Reports a long text, as a path may be. */
static void says_long(const struct doctor *doctor, const struct subject *s)
{
	char fix[3 * DOCTOR_TEXT];

	(void)s;
	memset(fix, 'f', sizeof(fix) - 1);
	fix[sizeof(fix) - 1] = '\0';
	doctor_find(doctor, fix, "long");
	doctor_find(doctor, "short", "next");
}

static void hangs(const struct doctor *doctor, const struct subject *s)
{
	(void)doctor;
	(void)s;
	pause();
}

static void dies(const struct doctor *doctor, const struct subject *s)
{
	(void)doctor;
	(void)s;
	_exit(3);
}

static void says_too_much(const struct doctor *doctor, const struct subject *s)
{
	static char text[1000];

	memset(text, 'x', sizeof(text) - 1);
	(void)s;
	for (int i = 0; i < 10000; i++)
		doctor_find(doctor, "f", "%s", text);
}

static void one(struct check_run *run,
		void (*fn)(const struct doctor *, const struct subject *),
		const char *late_fix)
{
	static struct check c;
	struct check_runs runs = { .n = 1, .run = run };

	c = (struct check){ "x", OF_NODE, "", fn, "late", late_fix };
	*run = (struct check_run){ .check = &c, .fd = -1 };
	ck_assert_int_eq(check_runs_run(&d, &runs), 0);
}

static void expect(struct check_run *run, size_t *at, enum result_kind kind,
		   const char *what, const char *fix)
{
	struct check_result result;

	ck_assert(check_run_result(run, at, &result));
	ck_assert_int_eq(result.kind, kind);
	ck_assert_str_eq(result.what, what);
	ck_assert_int_eq(result.fix[0], fix[0]);
}

START_TEST(checks)
{
	struct check_run run;
	struct check_result result;
	char n[16];
	size_t at = 0;

	one(&run, says_much, NULL);
	for (int i = 0; i < 50; i++) {
		snprintf(n, sizeof(n), "%d", i);
		expect(&run, &at, RESULT_FOUND, n, "f");
	}
	expect(&run, &at, RESULT_UNSEEN, "this", "");
	expect(&run, &at, RESULT_NOTE, "that", "");
	ck_assert(!check_run_result(&run, &at, &result));
	free(run.words);
}
END_TEST

START_TEST(long_fix)
{
	struct check_run run;
	size_t at = 0;

	one(&run, says_long, NULL);
	expect(&run, &at, RESULT_FOUND, "long", "f");
	expect(&run, &at, RESULT_FOUND, "next", "short");
	free(run.words);
}
END_TEST

/*
 * Findings that do not fit are reported as such, and not as a late check; the others are complete.
 */
START_TEST(too_much)
{
	struct check_run run;
	struct check_result result;
	unsigned int n = 0;
	size_t at = 0;

	one(&run, says_too_much, "fix");
	while (check_run_result(&run, &at, &result) &&
	       result.kind == RESULT_FOUND) {
		ck_assert_uint_eq(strspn(result.what, "x"), 999);
		ck_assert_str_eq(result.fix, "f");
		n++;
	}
	ck_assert_uint_ge(n, 100);
	ck_assert_int_eq(result.kind, RESULT_UNSEEN);
	ck_assert_str_eq(result.what,
			 "the check found more than is shown here");
	ck_assert(!check_run_result(&run, &at, &result));
	free(run.words);
}
END_TEST

START_TEST(ends)
{
	struct check_run run;
	size_t at = 0;

	one(&run, hangs, NULL);
	expect(&run, &at, RESULT_UNSEEN, "late", "");
	free(run.words);
	at = 0;
	one(&run, hangs, "fix");
	expect(&run, &at, RESULT_FOUND, "late", "fix");
	free(run.words);
	at = 0;
	one(&run, dies, NULL);
	expect(&run, &at, RESULT_UNSEEN,
	       "the check ended by itself, with an error", "");
	free(run.words);
}
END_TEST

/* Checks that need a server are skipped after it was not reached. */
START_TEST(away)
{
	static const struct check reach = { "r", OF_SERVER, "", says_much,
					    .reaches = true },
				  wait = { "w", OF_NODE, "", hangs },
				  follow = { "f", OF_SERVER, "", says_much,
					     .follows = true };
	struct subject s[2] = { 0 };
	bool away_is[2] = { false };
	struct check_run run[40] = { { .check = &reach, .s = &s[0], .fd = -1 } };
	struct check_runs runs = { 40, run, s, away_is };

	for (int i = 1; i < 38; i++) /* until the first has ended */
		run[i] = (struct check_run){ .check = &wait, .fd = -1 };
	for (int i = 38; i < 40; i++)
		run[i] = (struct check_run){ .check = &follow,
					     .s = &s[i - 38],
					     .fd = -1 };
	ck_assert_int_eq(check_runs_run(&d, &runs), 0);
	ck_assert_uint_gt(run[0].len, 0);
	ck_assert_uint_eq(run[38].len, 0);
	ck_assert_uint_gt(run[39].len, 0);
	for (int i = 0; i < 40; i++)
		free(run[i].words);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("doctor");
	TCase *tc = tcase_create("doctor");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, numbers);
	tcase_add_test(tc, memory);
	tcase_add_test(tc, limits);
	tcase_add_test(tc, daemon_conf);
	tcase_add_test(tc, rdma);
	tcase_add_test(tc, fstab);
	tcase_add_test(tc, unmounted);
	tcase_add_test(tc, fixes);
	tcase_add_test(tc, space);
	tcase_add_test(tc, checks);
	tcase_add_test(tc, long_fix);
	tcase_add_test(tc, too_much);
	tcase_add_test(tc, ends);
	tcase_add_test(tc, away);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
