/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_secure_env.c - a set-user-ID program has the environment of its caller, who must not choose
 * what is mounted.
 */
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <pvfs.h>
#include "tests/run_suite.h"

#define NOBODY 65534
#define SKIP 77

enum { SECURE = 1, MOUNTED = 2, NOT_RUN = 4 };

static char dir[] = "/var/tmp/pvfs-secure.XXXXXX", program[64], tab[64];

static void copy_self(void)
{
	int in = open("/proc/self/exe", O_RDONLY);
	int out = open(program, O_WRONLY | O_CREAT | O_EXCL, 0700);
	ssize_t n;

	ck_assert(in >= 0 && out >= 0);
	while ((n = sendfile(out, in, NULL, 1 << 20)) > 0)
		;
	ck_assert_int_eq(n, 0);
	close(in);
	close(out);
}

static void make_tab(void)
{
	FILE *file = fopen(tab, "w");

	ck_assert_ptr_nonnull(file);
	fprintf(file, "127.0.0.1:/ /etc pvfs port=3000 0 0\n");
	fclose(file);
}

/* Runs the program as nobody, with its own table.  Returns the state that it reports. */
static int run(mode_t mode)
{
	char *const argv[] = { program, "child", NULL };
	char env[96];
	char *const envp[] = { env, NULL };
	int status;
	pid_t pid;

	snprintf(env, sizeof(env), "PVFSTAB_FILE=%s", tab);
	ck_assert_int_eq(chmod(program, mode), 0);
	pid = fork();
	if (!pid) {
		if (!setresgid(NOBODY, NOBODY, NOBODY) &&
		    !setresuid(NOBODY, NOBODY, NOBODY))
			execve(program, argv, envp);
		_exit(NOT_RUN);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	return WEXITSTATUS(status);
}

START_TEST(table)
{
	int with;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(chmod(dir, 0755), 0);
	snprintf(program, sizeof(program), "%s/program", dir);
	snprintf(tab, sizeof(tab), "%s/tab", dir);
	copy_self();
	make_tab();
	ck_assert_int_eq(run(0755), MOUNTED);
	with = run(04755);
	unlink(program);
	unlink(tab);
	rmdir(dir);
	ck_assert_int_eq(with & MOUNTED, with & SECURE ? 0 : MOUNTED);
	ck_assert_msg(with & SECURE, "%s: mounted with nosuid?", dir);
}
END_TEST

static Suite *secure_suite(void)
{
	Suite *s = suite_create("secure_env");
	TCase *tc = tcase_create("secure_env");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, table);
	suite_add_tcase(s, tc);
	return s;
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "child"))
		_exit((getauxval(AT_SECURE) ? SECURE : 0) |
		      (pvfs_is_pvfs("/etc/passwd") ? MOUNTED : 0));
	if (geteuid()) {
		puts("skip: needs root");
		return SKIP;
	}
	return run_suite(secure_suite());
}
