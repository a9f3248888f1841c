/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib_counter.c - counters of files.
 *
 * 	lib_counter FILE rules	checks the results of calls
 * 	lib_counter FILE count PROCESSES SECONDS
 * 				each process adds 1 repeatedly, and prints each result; at the
 * 				end it prints "left out" and the number of calls with an
 * 				unknown result
 * 	lib_counter FILE read	prints the value
 * 	lib_counter FILE step	adds 1 after each line of stdin, and prints the result
 */
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/e2e/lib/expect.h"
#include "tests/e2e/lib/quiet_fork.h"
#include <pvfs.h>

static void edges(int fd)
{
	int64_t old = -7;

	EXPECT(pvfs_counter_set(fd, 3, INT64_MAX, &old) == 0);
	EXPECT_ERRNO(pvfs_fetch_add(fd, 3, 1, &old), EOVERFLOW);
	EXPECT(pvfs_counter_set(fd, 3, INT64_MIN, &old) == 0);
	EXPECT(old == INT64_MAX);
	EXPECT_ERRNO(pvfs_fetch_add(fd, 3, -1, &old), EOVERFLOW);
	EXPECT(old == INT64_MAX);
	EXPECT_ERRNO(pvfs_fetch_add(fd, PVFS_COUNTERS, 1, &old), EINVAL);
	EXPECT_ERRNO(pvfs_counter_set(fd, UINT32_MAX, 1, &old), EINVAL);
	EXPECT_ERRNO(pvfs_fetch_add(-1, 0, 1, &old), EBADF);
	EXPECT_ERRNO(pvfs_fetch_add(0, 0, 1, &old), ENOTTY);
}

static void by_readers(const char *name)
{
	int fd = pvfs_open(name, O_RDONLY);
	int64_t old = -7;

	EXPECT(fd >= 0);
	EXPECT_ERRNO(pvfs_fetch_add(fd, 0, 1, &old), EBADF);
	EXPECT_ERRNO(pvfs_counter_set(fd, 0, 1, &old), EBADF);
	EXPECT(old == -7);
	EXPECT(pvfs_fetch_add(fd, 0, 0, &old) == 0 && old == 107);
	EXPECT(pvfs_close(fd) == 0);
}

/* A counter belongs to the file, and does not depend on its name, data or size. */
static void of_the_file(const char *name, int fd)
{
	char other[256];
	int64_t old;

	snprintf(other, sizeof(other), "%s.other", name);
	EXPECT(pvfs_write(fd, "data", 4) == 4);
	EXPECT(pvfs_ftruncate(fd, 0) == 0);
	EXPECT(pvfs_rename(name, other) == 0);
	EXPECT(pvfs_fetch_add(fd, 0, 0, &old) == 0 && old == 107);
	EXPECT(pvfs_rename(other, name) == 0);
	fd = pvfs_open(other, O_RDWR | O_CREAT, 0644);
	EXPECT(fd >= 0);
	EXPECT(pvfs_fetch_add(fd, 0, 5, &old) == 0 && old == 0);
	EXPECT(pvfs_unlink(other) == 0);
	EXPECT(pvfs_close(fd) == 0);
}

static void rules(const char *name)
{
	int fd = pvfs_open(name, O_RDWR | O_CREAT, 0644);
	struct stat st;
	int64_t old;

	EXPECT(fd >= 0);
	for (unsigned int i = 0; i < PVFS_COUNTERS; i++)
		EXPECT(pvfs_fetch_add(fd, i, i + 1, &old) == 0 && old == 0);
	for (unsigned int i = 0; i < PVFS_COUNTERS; i++)
		EXPECT(pvfs_fetch_add(fd, i, 0, &old) == 0 && old == i + 1);
	EXPECT(pvfs_fstat(fd, &st) == 0 && st.st_size == 0);
	EXPECT(pvfs_counter_set(fd, 0, 7, NULL) == 0);
	EXPECT(pvfs_fetch_add(fd, 0, 100, &old) == 0 && old == 7);
	EXPECT(pvfs_fetch_add(fd, 1, -2, NULL) == 0);
	EXPECT(pvfs_fetch_add(fd, 1, 0, &old) == 0 && old == 0);
	edges(fd);
	by_readers(name);
	of_the_file(name, fd);
	EXPECT(pvfs_close(fd) == 0);
	puts("ok");
}

/* Counts the calls whose result is unknown.  Any other error fails the test. */
static void count(const char *name, unsigned int seconds)
{
	int fd = pvfs_open(name, O_RDWR | O_CREAT, 0644);
	time_t end = time(NULL) + seconds;
	unsigned int unknown = 0;
	int64_t old;

	EXPECT(fd >= 0);
	while (time(NULL) < end) {
		if (pvfs_fetch_add(fd, 0, 1, &old) == 0) {
			printf("%lld\n", (long long)old);
			continue;
		}
		EXPECT(errno == ECONNABORTED || errno == ETIMEDOUT);
		unknown++;
	}
	printf("left out %u\n", unknown);
	EXPECT(pvfs_close(fd) == 0);
}

static void count_all(const char *name, int processes, unsigned int seconds)
{
	int status, failed = 0;

	for (int i = 0; i < processes; i++) {
		if (quiet_fork() == 0) {
			/* the buffer is flushed in whole lines */
			static char line[1 << 12];
			char path[64];

			snprintf(path, sizeof(path), "counted.%d", i);
			EXPECT(freopen(path, "w", stdout));
			setvbuf(stdout, line, _IOFBF, sizeof(line));
			count(name, seconds);
			exit(0);
		}
	}
	while (wait(&status) > 0)
		failed |= status;
	EXPECT(!failed);
	puts("ok");
}

static void step(const char *name)
{
	int fd = pvfs_open(name, O_RDWR | O_CREAT, 0644);
	char line[16];
	int64_t old;

	EXPECT(fd >= 0);
	setvbuf(stdout, NULL, _IOLBF, 0);
	puts("open");
	while (fgets(line, sizeof(line), stdin)) {
		puts("asks");
		if (pvfs_fetch_add(fd, 0, 1, &old) == 0)
			printf("got %lld\n", (long long)old);
		else
			printf("%s\n", strerrorname_np(errno));
	}
}

int main(int argc, char **argv)
{
	int64_t old;

	EXPECT(argc >= 3);
	if (!strcmp(argv[2], "rules")) {
		rules(argv[1]);
	} else if (!strcmp(argv[2], "count")) {
		count_all(argv[1], atoi(argv[3]), (unsigned int)atoi(argv[4]));
	} else if (!strcmp(argv[2], "step")) {
		step(argv[1]);
	} else {
		int fd = pvfs_open(argv[1], O_RDONLY);

		EXPECT(fd >= 0 && pvfs_fetch_add(fd, 0, 0, &old) == 0);
		printf("%lld\n", (long long)old);
	}
	return 0;
}
