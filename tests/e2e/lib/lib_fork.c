/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib_fork.c - a child uses the open files of its parent, and the parent is not affected. No
 * connection breaks.
 *
 * usage: lib_fork DIR
 */
#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/e2e/lib/opens.h"
#include "tests/e2e/lib/fds.h"
#include "tests/e2e/lib/quiet_fork.h"
#include <pvfs.h>

#define N 300000u

static unsigned char buf[N];
static atomic_int lines;
static atomic_bool stop;
static const char *dir;

static void count_line(void *arg, int level, const char *msg)
{
	fprintf(stderr, "unexpected: %s\n", msg);
	atomic_fetch_add(&lines, 1);
}

static void reap(pid_t pid)
{
	int status;

	EXPECT(waitpid(pid, &status, 0) == pid);
	EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* `before` is the number of descriptors of the parent. */
static void child_uses(int fd, int reader, int before)
{
	struct stat st;
	int other;

	/* the child does not have the connections of its parent */
	EXPECT(count_fds() < before);
	EXPECT(pvfs_fstat(fd, &st) == 0 && st.st_size == N);
	/* the child has made as many connections of its own */
	EXPECT(count_fds() <= before);
	EXPECT(pvfs_read(reader, buf, N) == N && filled(buf, N, 1, 0));
	fill(buf, N, 2, N);
	EXPECT(pvfs_pwrite(fd, buf, N, N) == N);
	other = open_in(dir, "child", O_RDWR | O_CREAT);
	EXPECT(pvfs_write(other, buf, N) == N);
	/* the child exits with both files open */
}

static void inherit(void)
{
	int fd = open_in(dir, "file", O_RDWR | O_CREAT), reader, before;
	struct stat st;
	pid_t pid;

	fill(buf, N, 1, 0);
	EXPECT(pvfs_write(fd, buf, N) == N);
	reader = open_in(dir, "file", O_RDONLY);
	before = count_fds();
	pid = quiet_fork();
	EXPECT(pid >= 0);
	if (pid == 0) {
		child_uses(fd, reader, before);
		exit(0);
	}
	reap(pid);
	EXPECT(pvfs_fstat(fd, &st) == 0 && st.st_size == 2 * N);
	EXPECT(pvfs_pread(fd, buf, N, N) == N && filled(buf, N, 2, N));
	EXPECT(pvfs_read(reader, buf, N) == N && filled(buf, N, 1, 0));
	EXPECT(pvfs_close(fd) == 0 && pvfs_close(reader) == 0);
	fd = open_in(dir, "child", O_RDONLY);
	EXPECT(pvfs_fstat(fd, &st) == 0 && st.st_size == N);
	EXPECT(pvfs_close(fd) == 0);
}

static void *busy(void *arg)
{
	int fd = open_in(dir, "busy", O_RDWR | O_CREAT);
	static unsigned char mine[N];
	unsigned int seed = 0;

	while (!atomic_load(&stop)) {
		fill(mine, N, ++seed, 0);
		EXPECT(pvfs_pwrite(fd, mine, N, 0) == N);
		memset(mine, 0, N);
		EXPECT(pvfs_pread(fd, mine, N, 0) == N);
		EXPECT(filled(mine, N, seed, 0));
	}
	EXPECT(pvfs_close(fd) == 0);
	return NULL;
}

/* Forks while another thread is inside calls. */
static void fork_often(void)
{
	pthread_t thread;
	char path[256];
	struct stat st;
	pid_t pid;
	int i;

	EXPECT(!pthread_create(&thread, NULL, busy, NULL));
	snprintf(path, sizeof(path), "%s/file", dir);
	for (i = 0; i < 20; i++) {
		pid = quiet_fork();
		EXPECT(pid >= 0);
		if (pid == 0) {
			EXPECT(pvfs_stat(path, &st) == 0);
			EXPECT(st.st_size == 2 * N);
			_exit(0);
		}
		EXPECT(pvfs_stat(path, &st) == 0);
		reap(pid);
	}
	atomic_store(&stop, true);
	EXPECT(!pthread_join(thread, NULL));
}

int main(int argc, char **argv)
{
	EXPECT(argc == 2);
	dir = argv[1];
	pvfs_set_log(count_line, NULL, 1);
	inherit();
	fork_often();
	EXPECT(atomic_load(&lines) == 0);
	puts("ok");
	return 0;
}
