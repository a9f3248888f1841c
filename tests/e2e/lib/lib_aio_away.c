/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib_aio_away.c - asynchronous requests while servers are stopped, and after their session has
 * ended.
 *
 * 	lib_aio_away DIR still PID...	stops these servers with requests in flight, and
 * 					continues them
 * 	lib_aio_away DIR lost		prints "ready" with requests in flight, and continues
 * 					after a line on its standard input
 */
#include <glob.h>
#include <poll.h>
#include <pvfs_aio.h>
#include <signal.h>
#include <stdbool.h>
#include <unistd.h>

#include "tests/e2e/lib/expect.h"

#define N 300u
#define LEN 50000u

static struct pvfs_aio aio[N], *list[N];
static unsigned char buf[N][LEN];
static struct stat st[N];
static char file[256];
static int fd;

/* A third of the requests reads, a third writes, and a third calls stat. */
static void prepare(void)
{
	unsigned int i;

	for (i = 0; i < N; i++) {
		int64_t at = (int64_t)i * LEN;

		list[i] = &aio[i];
		if (i % 3 == 0)
			pvfs_aio_prep_read(&aio[i], fd, buf[i], LEN, at);
		else if (i % 3 == 1)
			pvfs_aio_prep_write(&aio[i], fd, buf[i], LEN, at);
		else
			pvfs_aio_prep_stat(&aio[i], file, &st[i]);
	}
}

/* Writes the whole file, and fills all buffers, from one seed. */
static void write_all(unsigned int seed)
{
	unsigned int i;

	for (i = 0; i < N; i++) {
		fill(buf[i], LEN, seed, i * LEN);
		EXPECT(pvfs_pwrite(fd, buf[i], LEN, (int64_t)i * LEN) == LEN);
	}
}

static void reap(struct pvfs_aio_queue *q)
{
	struct pollfd p = { pvfs_aio_fd(q), POLLIN, 0 };
	struct pvfs_aio *ended[N];
	int left = N, got;

	while (left) {
		EXPECT(poll(&p, 1, 120000) == 1);
		got = pvfs_aio_wait(q, ended, N, 0, 0);
		EXPECT(got >= 0);
		left -= got;
	}
}

static void expect_all(int64_t rw, int64_t asked, int error)
{
	unsigned int i;

	for (i = 0; i < N; i++) {
		EXPECT(aio[i].result == (i % 3 == 2 ? asked : rw));
		EXPECT(aio[i].error == error);
	}
}

static void send_all(char **pid, int signal)
{
	for (; *pid; pid++)
		EXPECT(kill(atoi(*pid), signal) == 0);
}

/*
 * Reads a file like /proc/PID/task/TID/stat. Returns whether the thread is stopped or has ended.
 */
static bool is_stopped(const char *path)
{
	char line[512], *name_end;
	FILE *f = fopen(path, "r");

	if (!f)
		return true;
	name_end = fgets(line, sizeof(line), f) ? strrchr(line, ')') : NULL;
	fclose(f);
	return !name_end || name_end[2] == 'T';
}

static bool all_stopped(const char *pid)
{
	char pattern[64];
	bool all = true;
	glob_t tasks;

	snprintf(pattern, sizeof(pattern), "/proc/%s/task/*/stat", pid);
	EXPECT(glob(pattern, 0, NULL, &tasks) == 0);
	for (size_t i = 0; i < tasks.gl_pathc; i++)
		all = all && is_stopped(tasks.gl_pathv[i]);
	globfree(&tasks);
	return all;
}

/*
 * Waits until all threads are stopped: a stopped process may run until one of its threads is
 * scheduled next.
 */
static void stop_all(char **pid)
{
	send_all(pid, SIGSTOP);
	for (; *pid; pid++)
		while (!all_stopped(*pid))
			usleep(1000);
}

static void until_they_answer(void)
{
	char c;

	while (pvfs_pread(fd, &c, 1, 0) != 1)
		usleep(50000);
}

/* A request that failed changes neither the file nor the memory later. */
static void still(struct pvfs_aio_queue *q, char **pid)
{
	unsigned int i;

	write_all(1);
	prepare();
	stop_all(pid);
	EXPECT(pvfs_aio_submit(q, list, N) == 0);
	reap(q);
	expect_all(-1, -1, ETIMEDOUT);
	for (i = 0; i < N; i++)
		fill(buf[i], LEN, 2, i);
	send_all(pid, SIGCONT);
	until_they_answer();
	for (i = 0; i < N; i++)
		EXPECT(filled(buf[i], LEN, 2, i));
	write_all(3);
	sleep(1);
	prepare();
	EXPECT(pvfs_aio_submit(q, list, N) == 0);
	reap(q);
	expect_all(LEN, 0, 0);
	for (i = 0; i < N; i++)
		EXPECT(filled(buf[i], LEN, 3, i * LEN));
}

static void lost(struct pvfs_aio_queue *q)
{
	unsigned int i;
	char c;

	write_all(1);
	prepare();
	EXPECT(pvfs_aio_submit(q, list, N) == 0);
	puts("ready");
	fflush(stdout);
	EXPECT(read(0, &c, 1) == 1);
	reap(q);
	for (i = 0; i < N; i++)
		EXPECT(aio[i].result == (i % 3 == 2 ? 0 : LEN) ||
		       (aio[i].error == ECONNABORTED && i % 3 == 1));
	for (i = 0; i < N; i += 3)
		EXPECT(filled(buf[i], LEN, 1, i * LEN));
	prepare();
	EXPECT(pvfs_aio_submit(q, list, N) == 0);
	reap(q);
	expect_all(LEN, 0, 0);
}

int main(int argc, char **argv)
{
	struct pvfs_aio_queue *q;

	EXPECT(argc >= 3 && pvfs_aio_queue_new(0, &q) == 0);
	snprintf(file, sizeof(file), "%s/away", argv[1]);
	fd = pvfs_open(file, O_RDWR | O_CREAT, 0644);
	EXPECT(fd >= 0);
	if (!strcmp(argv[2], "lost"))
		lost(q);
	else
		still(q, argv + 3);
	pvfs_aio_queue_free(q);
	EXPECT(pvfs_close(fd) == 0);
	return 0;
}
