/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pvkill.c - clients that die in the middle of their transfers.
 *
 *	pvkill DIR COUNT	starts COUNT clients, some at a time, each
 *				writing and reading a file in DIR without end,
 *				and kills each with SIGKILL after a moment
 *
 * Prints "killed COUNT"; exits 1 if one of them ended by itself.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <pvfs.h>

#define ALIVE 4 /* at a time */
#define LARGE (4u << 20)
#define SMALL (16u << 10)
#define MOMENT_US 6000

struct client {
	pid_t pid; /* 0: none */
	int ready; /* readable: it transfers */
};

static int transfer(int fd, char *buf, size_t len)
{
	if (pvfs_lseek64(fd, 0, SEEK_SET) ||
	    pvfs_write(fd, buf, len) != (ssize_t)len ||
	    pvfs_lseek64(fd, 0, SEEK_SET))
		return -1;
	return pvfs_read(fd, buf, len) == (ssize_t)len ? 0 : -1;
}

static void child(const char *dir, int i, int ready)
{
	char path[4096], *buf = calloc(1, LARGE);
	int fd, rc;

	snprintf(path, sizeof(path), "%s/kill.%d", dir, i % (2 * ALIVE));
	fd = pvfs_open(path, O_RDWR | O_CREAT, 0644, NULL, NULL);
	rc = fd < 0 || !buf || transfer(fd, buf, SMALL);
	if (!rc && write(ready, "", 1) != 1)
		rc = -1;
	while (!rc)
		rc = transfer(fd, buf, LARGE) || transfer(fd, buf, SMALL);
	perror(path);
	_exit(1);
}

static int start(struct client *c, const char *dir, int i)
{
	int ends[2];

	if (pipe(ends))
		return -1;
	c->pid = fork();
	if (!c->pid) {
		close(ends[0]);
		child(dir, i, ends[1]);
	}
	close(ends[1]);
	c->ready = ends[0];
	return c->pid < 0 ? -1 : 0;
}

/* 0: it was transferring, and is dead now. */
static int end(struct client *c)
{
	struct timespec moment = { 0, rand() % MOMENT_US * 1000 };
	int status;
	char byte;

	if (read(c->ready, &byte, 1) == 1)
		nanosleep(&moment, NULL);
	kill(c->pid, SIGKILL);
	waitpid(c->pid, &status, 0);
	close(c->ready);
	c->pid = 0;
	return WIFSIGNALED(status) ? 0 : -1;
}

int main(int argc, char **argv)
{
	int count = argc == 3 ? atoi(argv[2]) : 0, i, bad = 0;
	struct client clients[ALIVE] = { { 0 } };

	if (count <= 0) {
		fprintf(stderr, "usage: pvkill DIR COUNT\n");
		return 2;
	}
	srand(1);
	for (i = 0; i < count + ALIVE; i++) {
		struct client *c = &clients[i % ALIVE];

		if (c->pid)
			bad |= end(c);
		if (i < count)
			bad |= start(c, argv[1], i);
	}
	if (!bad)
		printf("killed %d\n", count);
	return bad ? 1 : 0;
}
