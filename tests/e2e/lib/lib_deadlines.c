/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib_deadlines.c - how late calls return while servers are stopped.
 *
 * 	lib_deadlines DIR warm|cold TIMEOUT TIMES PID...
 *
 * Each call runs in a process of its own. Before the servers PID... are stopped, the process has
 * opened its files (warm) or made no call (cold). Prints one line for each call: its name, its
 * result, and the seconds by which it exceeded TIMEOUT, the value of PVFS_TIMEOUT. Fails if a call
 * took more than TIMES time-outs.
 */
#include <fcntl.h>
#include <pvfs.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/e2e/lib/deadline_calls.h"
#include "tests/e2e/lib/quiet_fork.h"
#include "tests/e2e/lib/stand.h"

#define SETTLE 600 /* maximum number of tries until the servers respond again */

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* Creates a file for the calls; retries while the servers do not respond yet. */
static void make_file(const char *file)
{
	int fd = -1, i;

	for (i = 0; fd < 0 && i < SETTLE; i++) {
		fd = pvfs_open(file, O_CREAT | O_RDWR | O_TRUNC, 0666);
		if (fd < 0)
			usleep(50000);
	}
	EXPECT(fd >= 0);
	EXPECT(pvfs_pwrite(fd, data, LEN, 0) == (ssize_t)LEN);
	EXPECT(!pvfs_close(fd));
}

static void prepare(void)
{
	make_file(path[FILE_]);
	pvfs_unlink(path[FRESH]); /* removes locks of earlier calls with it */
	make_file(path[FRESH]);
	pvfs_unlink(path[NEW]);
	pvfs_rmdir(path[NEW]);
	pvfs_mkdir(path[DIR_], 0777);
	pvfs_mkdir(path[EMPTY], 0777);
	pvfs_symlink("where", path[LINK]);
}

static void open_all(void)
{
	rd = pvfs_open(path[FILE_], O_RDONLY);
	wr = pvfs_open(path[WRITTEN], O_CREAT | O_RDWR, 0666);
	ap = pvfs_open(path[DIR_], O_RDONLY | O_DIRECTORY);
	dir = ap;
	ap = pvfs_open(path[FRESH], O_WRONLY | O_APPEND);
	EXPECT(rd >= 0 && wr >= 0 && ap >= 0 && dir >= 0);
	EXPECT(pvfs_pread(rd, data, LEN, 0) == (ssize_t)LEN);
	EXPECT(pvfs_pwrite(wr, data, LEN, 0) == (ssize_t)LEN);
	EXPECT(pvfs_write(ap, data, 100) == 100);
}

static void stop_all(char **pid)
{
	for (; *pid; pid++)
		stand_still((pid_t)atol(*pid));
}

static void continue_all(char **pid)
{
	for (; *pid; pid++)
		EXPECT(!kill((pid_t)atol(*pid), SIGCONT));
}

/* Runs in a child: reports that it is ready, waits for a byte, and makes the call. */
static void child(const struct call *c, bool warm, int in, int out,
		  double timeout)
{
	double start;
	char go = 0;
	int rc;

	if (warm)
		open_all();
	EXPECT(write(out, &go, 1) == 1);
	EXPECT(read(in, &go, 1) == 1);
	errno = 0;
	start = now();
	rc = c->run();
	start = now() - start - timeout;
	printf("%-24s %-12s %+.3f\n", c->name,
	       rc < 0 ? strerrorname_np(errno) : "ok", start);
	fflush(stdout);
	EXPECT(write(out, &start, sizeof(start)) == sizeof(start));
	_exit(0);
}

static double measure(const struct call *c, bool warm, double timeout,
		      char **pid)
{
	int to[2], from[2], status;
	double over = 0;
	char go = 0;
	pid_t p;

	EXPECT(!pipe(to) && !pipe(from));
	p = quiet_fork();
	EXPECT(p >= 0);
	if (!p)
		child(c, warm, to[0], from[1], timeout);
	close(to[0]);
	close(from[1]);
	EXPECT(read(from[0], &go, 1) == 1);
	stop_all(pid);
	EXPECT(write(to[1], &go, 1) == 1);
	status = (int)read(from[0], &over, sizeof(over));
	continue_all(pid);
	EXPECT(status == sizeof(over));
	EXPECT(waitpid(p, &status, 0) == p && !status);
	close(to[1]);
	close(from[0]);
	return over;
}

int main(int argc, char **argv)
{
	double timeout, times, over, most = -1e9;
	bool warm;
	size_t i;

	EXPECT(argc >= 5);
	warm = !strcmp(argv[2], "warm");
	timeout = atof(argv[3]);
	times = atof(argv[4]);
	calls_init(argv[1]);
	for (i = 0; calls[i].name; i++) {
		if (calls[i].warm && !warm)
			continue;
		prepare();
		over = measure(&calls[i], warm, timeout, argv + 5);
		most = over > most ? over : most;
	}
	printf("most: %+.3f\n", most);
	return most > (times - 1) * timeout;
}
