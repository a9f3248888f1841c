/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pvsync.c - writes and flushes files, as the lines of stdin say:
 *
 * 	open K PATH FLAGS | write K | list K | space K | copy K FROM | close K
 * 	sync K | sync-in-child K
 *
 * K is a number from 0 to 9 for an open file. FLAGS are letters of rws (read, write, O_DSYNC).
 * Prints ok, or the name of the errno, for each line.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <pvfs.h>

#define LEN (256u << 10)

static int fds[10];
static char data[LEN];

static int open_it(int k, const char *path, const char *flags)
{
	int how = strchr(flags, 'w') ? O_RDWR | O_CREAT : O_RDONLY;

	fds[k] = pvfs_open(path, how | (strchr(flags, 's') ? O_DSYNC : 0),
			   0644);
	return fds[k] < 0 ? -1 : 0;
}

static int write_it(int k)
{
	return pvfs_pwrite(fds[k], data, LEN, 0) == LEN ? 0 : -1;
}

static int list_it(int k)
{
	char *mem[1] = { data };
	int len[1] = { LEN };
	int64_t at[1] = { 0 };

	return pvfs_write_list(fds[k], 1, mem, len, 1, at, len) == LEN ? 0 : -1;
}

static int copy_it(int k, int from)
{
	loff_t in = 0, out = 0;

	return pvfs_copy_file_range(fds[from], &in, fds[k], &out, LEN, 0) == LEN
		       ? 0
		       : -1;
}

static int child_syncs(int k)
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(pvfs_fsync(fds[k]) ? errno : 0);
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		abort();
	errno = WEXITSTATUS(status);
	return errno ? -1 : 0;
}

static int run(const char *op, int k, const char *a, const char *b)
{
	if (!strcmp(op, "open"))
		return open_it(k, a, b);
	if (!strcmp(op, "write"))
		return write_it(k);
	if (!strcmp(op, "list"))
		return list_it(k);
	if (!strcmp(op, "space"))
		return pvfs_fallocate(fds[k], 0, 0, LEN);
	if (!strcmp(op, "copy"))
		return copy_it(k, atoi(a));
	if (!strcmp(op, "close"))
		return pvfs_close(fds[k]);
	if (!strcmp(op, "sync"))
		return pvfs_fsync(fds[k]);
	if (!strcmp(op, "sync-in-child"))
		return child_syncs(k);
	abort();
}

int main(void)
{
	char line[512], op[16], a[256], b[8];
	unsigned int k;

	setvbuf(stdout, NULL, _IOLBF, 0);
	while (fgets(line, sizeof(line), stdin)) {
		*a = *b = '\0';
		if (sscanf(line, "%15s %u %255s %7s", op, &k, a, b) < 2 ||
		    k > 9)
			return 2;
		printf("%s\n",
		       run(op, (int)k, a, b) ? strerrorname_np(errno) : "ok");
	}
	return 0;
}
