/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib_memory.c - a server is stopped directly before it copies data into the memory of a read. The
 * call returns only when the server can no longer write to this memory, however long that takes.
 *
 * 	lib_memory FILE FLAG PID	the server PID stops itself before a copy if the file
 * 					FLAG exists, and removes FLAG (stop_in_copy.c)
 */
#include <fcntl.h>
#include <pthread.h>
#include <pvfs.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>

#include "tests/e2e/lib/expect.h"

#define LEN (1u << 20)
#define TIMEOUTS 8 /* the test waits at most so many time-outs */

static unsigned char buf[LEN], returned[LEN], other[4096];
static atomic_bool over;
static int fd;

static void nap(long ms)
{
	const struct timespec ts = { ms / 1000, ms % 1000 * 1000000 };

	nanosleep(&ts, NULL);
}

static void *reader(void *arg)
{
	(void)arg;
	pvfs_pread(fd, buf, LEN, 0);
	memcpy(returned, buf, LEN);
	atomic_store(&over, true);
	return NULL;
}

static int stopped(const char *pid)
{
	char path[64], text[512] = "";
	const char *state;
	FILE *f;
	size_t n;

	snprintf(path, sizeof(path), "/proc/%s/stat", pid);
	f = fopen(path, "r");
	EXPECT(f);
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	EXPECT(n > 0);
	state = strrchr(text, ')');
	EXPECT(state);
	return state[2] == 'T';
}

static void arm(const char *flag)
{
	int file = open(flag, O_CREAT | O_WRONLY, 0666);

	EXPECT(file >= 0);
	close(file);
}

static void until_stopped(const char *flag, const char *pid)
{
	while (!access(flag, F_OK) || !stopped(pid)) {
		EXPECT(!atomic_load(&over));
		nap(5);
	}
}

int main(int argc, char **argv)
{
	const unsigned int timeout_ms = 1000;
	pthread_t thread;
	int i;

	EXPECT(argc == 4);
	memset(buf, 'A', LEN);
	fd = pvfs_open(argv[1], O_CREAT | O_RDWR, 0666);
	EXPECT(fd >= 0);
	EXPECT(pvfs_pwrite(fd, buf, LEN, 0) == (ssize_t)LEN);
	memset(buf, 'B', LEN);
	arm(argv[2]);
	EXPECT(!pthread_create(&thread, NULL, reader, NULL));
	until_stopped(argv[2], argv[3]);
	/* if a call returned too early, it would do so during this time */
	for (i = 0; i < TIMEOUTS * 10 && !atomic_load(&over); i++)
		nap(timeout_ms / 10);
	EXPECT(!kill((pid_t)atol(argv[3]), SIGCONT));
	EXPECT(!pthread_join(thread, NULL));
	/* the server serves this read after the end of its copy */
	while (pvfs_pread(fd, other, sizeof(other), 0) != sizeof(other))
		nap(10);
	EXPECT(!memcmp(buf, returned, LEN));
	EXPECT(!pvfs_close(fd));
	puts("ok");
	return 0;
}
