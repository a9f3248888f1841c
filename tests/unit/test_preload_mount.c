/* SPDX-License-Identifier: BSD-2-Clause */
/* test_preload_mount.c - the page of a mount that its daemon names, which may be any file. */
#include <check.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/preload/bypass/fuse_mount.h"
#include "tests/run_suite.h"

static char dir[] = "/tmp/pvfs-preload-mount-XXXXXX";
static char page_path[256]; /* the reply of the daemon */
static atomic_uint questions; /* number of requests to the daemon */

/* The daemon of this descriptor reports the request, and replies when the test permits it. */
#define SLOW_FD 1000
static sem_t slow_is_asked, slow_may_answer;

/* Replaces libc's function. */
int ioctl(int fd, unsigned long request, ...)
{
	struct shortcut_where *where;
	va_list ap;

	va_start(ap, request);
	where = va_arg(ap, struct shortcut_where *);
	va_end(ap);
	if (request != SHORTCUT_WHERE)
		return -1;
	if (fd == SLOW_FD) {
		sem_post(&slow_is_asked);
		sem_wait(&slow_may_answer);
	}
	questions++;
	memcpy(where->path, page_path, sizeof(page_path));
	return 0;
}

static void setup(void)
{
	strcpy(dir, "/tmp/pvfs-preload-mount-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	memset(page_path, 0, sizeof(page_path));
	snprintf(page_path, sizeof(page_path), "%s/page", dir);
	questions = 0;
}

static void teardown(void)
{
	snprintf(page_path, sizeof(page_path), "%s/page", dir);
	unlink(page_path);
	snprintf(page_path, sizeof(page_path), "%s/other", dir);
	unlink(page_path);
	rmdir(dir);
}

static const struct shortcut_page *find_page(void)
{
	static const struct ident id = { .dev = 7 };
	struct fuse_mounts *mounts = calloc(1, sizeof(*mounts));
	const struct shortcut_page *page;
	struct fuse_mount *mount;

	fuse_mounts_init(mounts);
	mount = fuse_mounts_find(mounts, 0, &id);
	page = mount ? mount->page : NULL;
	ck_assert_uint_eq(questions, 1);
	free(mounts);
	return page;
}

static void make_page(const char *path, off_t len)
{
	static const struct shortcut_page page = { .magic = SHORTCUT_MAGIC };
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0444);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, &page, sizeof(page)), sizeof(page));
	ck_assert_int_eq(ftruncate(fd, len), 0);
	close(fd);
}

START_TEST(valid_page)
{
	make_page(page_path, sizeof(struct shortcut_page));
	ck_assert_ptr_nonnull(find_page());
}
END_TEST

START_TEST(page_of_another_size)
{
	make_page(page_path, sizeof(struct shortcut_page) - 1);
	ck_assert_ptr_null(find_page());
}
END_TEST

/* No process will ever write to the pipe. */
START_TEST(page_is_pipe)
{
	ck_assert_int_eq(mkfifo(page_path, 0666), 0);
	ck_assert_ptr_null(find_page());
}
END_TEST

START_TEST(page_is_link)
{
	char other[300];

	snprintf(other, sizeof(other), "%s/other", dir);
	make_page(other, sizeof(struct shortcut_page));
	ck_assert_int_eq(symlink(other, page_path), 0);
	ck_assert_ptr_null(find_page());
}
END_TEST

START_TEST(page_is_terminal)
{
	strcpy(page_path, "/dev/ptmx");
	ck_assert_ptr_null(find_page());
}
END_TEST

START_TEST(path_without_end)
{
	memset(page_path, 'a', sizeof(page_path));
	ck_assert_ptr_null(find_page());
}
END_TEST

static void *find_slow_mount(void *arg)
{
	static const struct ident id = { .dev = 8 };

	return fuse_mounts_find(arg, SLOW_FD, &id);
}

/* Neither other mounts nor fork() wait for the daemon, and its first reply counts. */
START_TEST(daemon_hangs)
{
	static const struct ident id = { .dev = 7 }, slow = { .dev = 8 };
	struct fuse_mounts *mounts = calloc(1, sizeof(*mounts));
	struct fuse_mount *mount;
	pthread_t thread[2];
	void *found;

	make_page(page_path, sizeof(struct shortcut_page));
	sem_init(&slow_is_asked, 0, 0);
	sem_init(&slow_may_answer, 0, 0);
	fuse_mounts_init(mounts);
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(pthread_create(&thread[i], NULL,
						find_slow_mount, mounts),
				 0);
		sem_wait(&slow_is_asked);
	}
	ck_assert_ptr_nonnull(fuse_mounts_find(mounts, 0, &id));
	fuse_mounts_hold(mounts);
	fuse_mounts_release(mounts);
	for (int i = 0; i < 2; i++)
		sem_post(&slow_may_answer);
	mount = NULL;
	for (int i = 0; i < 2; i++) {
		pthread_join(thread[i], &found);
		ck_assert_ptr_nonnull(found);
		ck_assert(!mount || mount == found);
		mount = found;
	}
	ck_assert_ptr_eq(fuse_mounts_find(mounts, 0, &slow), mount);
	ck_assert_uint_eq(questions, 3);
	free(mounts);
}
END_TEST

static Suite *suite(void)
{
	Suite *s = suite_create("preload_mount");
	TCase *tc = tcase_create("preload_mount");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, valid_page);
	tcase_add_test(tc, page_of_another_size);
	tcase_add_test(tc, page_is_pipe);
	tcase_add_test(tc, page_is_link);
	tcase_add_test(tc, page_is_terminal);
	tcase_add_test(tc, path_without_end);
	tcase_add_test(tc, daemon_hangs);
	suite_add_tcase(s, tc);
	return s;
}

int main(void)
{
	return run_suite(suite());
}
