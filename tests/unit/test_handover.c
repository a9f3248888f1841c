/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_handover.c - which programs take over what the previous program left.  Nothing that another
 * user has left is believed.  No server is asked.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/lib/file/handover.h"
#include <pvfs.h>
#include "tests/unit/rnd.h"
#include "tests/run_suite.h"

#define NOBODY 65534
#define FD 40 /* the descriptor that is handed over */
#define POS 12345
#define SEED 20031118u

/* The state that a program reports of itself. */
enum { OPEN = 1, LEFT = 2, SECURE = 4, NOT_RUN = 8 };
#define TAKEN (OPEN | LEFT) /* taken over, and left for the next program */

static char dir[] = "/var/tmp/pvfs-handover.XXXXXX", program[64], tab[64];

static void copy_self(void)
{
	int in = open("/proc/self/exe", O_RDONLY);
	int out = open(program, O_WRONLY | O_CREAT | O_EXCL, 0755);
	ssize_t n;

	ck_assert(in >= 0 && out >= 0);
	while ((n = sendfile(out, in, NULL, 1 << 20)) > 0)
		;
	ck_assert_int_eq(n, 0);
	close(in);
	close(out);
}

static void setup(void)
{
	FILE *file;

	strcpy(dir + strlen(dir) - 6, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(chmod(dir, 0755), 0);
	snprintf(program, sizeof(program), "%s/program", dir);
	snprintf(tab, sizeof(tab), "%s/tab", dir);
	copy_self();
	file = fopen(tab, "w");
	ck_assert_ptr_nonnull(file);
	fprintf(file, "127.0.0.1:/ /nowhere pvfs port=3000 0 0\n");
	fclose(file);
}

static void teardown(void)
{
	unlink(program);
	unlink(tab);
	rmdir(dir);
}

/* ---- the previous program, in a child of the test ---- */

static struct handover h;
static struct mount mount = { .dir = (char *)"/nowhere" };
static struct log nowhere;
static struct fs fs;
static struct file *f;

static struct file *open_file(void)
{
	fs_init(&fs, &mount, &nowhere);
	f = file_new(&fs, O_RDWR);
	f->handle = 42;
	f->type = S_IFREG;
	f->dist = (struct dist){ .pcount = 1, .ssize = 65536 };
	f->pos = POS;
	file_inherited(f);
	return f;
}

static void leave(void)
{
	handover_init(&h);
	if (dup2(STDIN_FILENO, FD) != FD)
		_exit(NOT_RUN);
	handover_set(&h, FD, open_file());
	if (!h.passes)
		_exit(NOT_RUN);
}

static void go_on(void)
{
	char *const argv[] = { program, (char *)"next", NULL };
	char env[96];
	char *const envp[] = { env, NULL };

	snprintf(env, sizeof(env), "PVFSTAB_FILE=%s", tab);
	execve(program, argv, envp);
	_exit(NOT_RUN);
}

static int said(pid_t pid)
{
	int status;

	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	return WEXITSTATUS(status);
}

#define RUN(what)                                                              \
	({                                                                     \
		pid_t pid = fork();                                            \
		if (!pid) {                                                    \
			what;                                                  \
			go_on();                                               \
		}                                                              \
		said(pid);                                                     \
	})

/* ---- the next program ---- */

static bool is_left(void)
{
	char path[32], text[64] = "";
	int i;

	for (i = 3; i < 256; i++) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", i);
		if (readlink(path, text, sizeof(text) - 1) > 0 &&
		    strstr(text, HANDOVER_NAME))
			return true;
	}
	return false;
}

static int next(void)
{
	return (pvfs_lseek(FD, 0, SEEK_CUR) == POS ? OPEN : 0) |
	       (is_left() ? LEFT : 0) | (getauxval(AT_SECURE) ? SECURE : 0);
}

/* ---- the tests ---- */

/* A child of the process that has the file open. */
static void in_a_child(void)
{
	pid_t pid = fork();
	int status;

	if (pid)
		_exit(waitpid(pid, &status, 0) == pid ? WEXITSTATUS(status)
						      : NOT_RUN);
}

START_TEST(taken)
{
	ck_assert_int_eq(RUN(leave()), TAKEN);
	ck_assert_int_eq(RUN(leave(); handover_set(&h, FD, NULL)), 0);
	ck_assert_int_eq(RUN(leave(); fcntl(FD, F_SETFD, FD_CLOEXEC);
			     handover_set(&h, FD, open_file());
			     if (h.passes) _exit(NOT_RUN)),
			 0);
	/* another file has the number */
	ck_assert_int_eq(RUN(leave(); dup2(h.fd, FD)) & OPEN, 0);
	/* another process moves the offset without a message */
	ck_assert_int_eq(RUN(leave(); h.map->file[0].pos++), LEFT);
	ck_assert_int_eq(RUN(leave(); in_a_child()), TAKEN);
}
END_TEST

/* A process with the descriptor can only read it. */
START_TEST(cannot_be_written)
{
	char path[32];
	int fd;

	leave();
	ck_assert(handover_sealed(h.fd));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", h.fd);
	fd = open(path, O_RDWR);
	if (fd >= 0) { /* run by root */
		ck_assert_int_lt(pwrite(fd, "x", 1, 0), 0);
		ck_assert_int_eq(errno, EPERM);
		ck_assert_int_lt(ftruncate(fd, 0), 0);
		ck_assert_ptr_eq(mmap(NULL, 4096, PROT_WRITE, MAP_SHARED, fd,
				      0),
				 MAP_FAILED);
		close(fd);
	}
	ck_assert_int_lt(pwrite(h.fd, "x", 1, 0), 0);
	handover_set(&h, FD, NULL);
	ck_assert_int_eq(fcntl(h.fd, F_GETFD), FD_CLOEXEC);
	file_put(f);
	munmap(h.map, sizeof(*h.map));
	close(h.fd);
	close(FD);
}
END_TEST

static void of_nobody(void)
{
	if (seteuid(NOBODY))
		_exit(NOT_RUN);
	leave();
	if (seteuid(0))
		_exit(NOT_RUN);
}

static void to_nobody(void)
{
	leave();
	if (setresgid(NOBODY, NOBODY, NOBODY) ||
	    setresuid(NOBODY, NOBODY, NOBODY))
		_exit(NOT_RUN);
}

/* Another user cannot choose what root writes to; a set-user-ID program reads nothing. */
START_TEST(other_users)
{
	int rc;

	if (geteuid()) {
		puts("other users: not seen, needs root");
		return;
	}
	ck_assert_int_eq(RUN(of_nobody()), LEFT);
	ck_assert_int_eq(RUN(to_nobody()), TAKEN);
	ck_assert_int_eq(chmod(program, 04755), 0);
	rc = RUN(to_nobody());
	ck_assert_msg(rc & SECURE, "%s: mounted with nosuid?", dir);
	ck_assert_int_eq(rc, LEFT | SECURE);
}
END_TEST

/* Plants an unsealed file under our name. */
static void plant(void)
{
	int fd;

	leave();
	fd = memfd_create(HANDOVER_NAME, MFD_ALLOW_SEALING);
	if (ftruncate(fd, sizeof(*h.map)) ||
	    pwrite(fd, h.map, sizeof(*h.map), 0) != sizeof(*h.map))
		_exit(NOT_RUN);
	close(h.fd);
}

START_TEST(not_sealed)
{
	ck_assert_int_eq(RUN(plant()), LEFT);
}
END_TEST

static struct rnd rnd;

static void spoil(void *at, size_t len)
{
	uint8_t *byte = at;
	int i;

	for (i = 0; i < 200; i++)
		byte[rnd_in(&rnd, 0, len - 1)] = (uint8_t)rnd_next(&rnd);
}

/* The program runs whatever the file contains. */
START_TEST(spoiled)
{
	rnd_init(&rnd, SEED + (uint64_t)_i);
	ck_assert_int_eq(RUN(leave(); h.map->fds = h.map->files =
					      (uint32_t)(_i % 2 ? 4096 : 60);
			     spoil(&h.map->file[0], _i % 3 ? 16384 : 300);
			     spoil(&h.map->fd[0], 4096);
			     if (_i % 5 == 0) spoil(h.map, 56)) &
				 ~TAKEN,
			 0);
}
END_TEST

int main(int argc, char **argv)
{
	Suite *s = suite_create("handover");
	TCase *tc = tcase_create("handover");

	if (argc > 1 && !strcmp(argv[1], "next"))
		_exit(next());
	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, taken);
	tcase_add_test(tc, cannot_be_written);
	tcase_add_test(tc, other_users);
	tcase_add_test(tc, not_sealed);
	tcase_add_loop_test(tc, spoiled, 0, 20);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
