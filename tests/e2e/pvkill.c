/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pvkill.c - kills clients during their transfers.
 *
 * 	pvkill DIR COUNT	starts COUNT clients, a few at a time; each writes and reads a
 * 				file in DIR without end, and is killed with SIGKILL after a
 * 				short time
 * 	pvkill DIR COUNT stop	stops COUNT clients, at most ALIVE, with SIGSTOP, prints
 * 				"stopped COUNT", waits for the end of stdin, continues the
 * 				clients, and kills them
 *
 * Prints "killed COUNT". Exits with 1 if a client ended by itself, or did not continue.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <pvfs.h>

#define ALIVE 4 /* clients at a time */
#define LARGE (4u << 20)
#define SMALL (16u << 10)
#define MOMENT_US 6000
#define PATIENCE_MS 60000

struct client {
	pid_t pid; /* 0: no client */
	int ready; /* readable after each round of transfers */
};

/* Writes again if the session ended during the write, while the client was stopped. */
static int put(int fd, const char *buf, size_t len)
{
	ssize_t n;

	do {
		if (pvfs_lseek64(fd, 0, SEEK_SET))
			return -1;
		n = pvfs_write(fd, buf, len);
	} while (n < 0 && errno == ECONNABORTED);
	return n == (ssize_t)len ? 0 : -1;
}

static int transfer(int fd, char *buf, size_t len)
{
	if (put(fd, buf, len) || pvfs_lseek64(fd, 0, SEEK_SET))
		return -1;
	return pvfs_read(fd, buf, len) == (ssize_t)len ? 0 : -1;
}

static void child(const char *dir, int i, int ready)
{
	char path[4096], *buf = calloc(1, LARGE);
	int fd, rc;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	snprintf(path, sizeof(path), "%s/kill.%d", dir, i % (2 * ALIVE));
	fd = pvfs_open(path, O_RDWR | O_CREAT, 0644, NULL, NULL);
	rc = fd < 0 || !buf || transfer(fd, buf, SMALL);
	while (!rc) {
		if (write(ready, "", 1) != 1 && errno != EAGAIN)
			rc = -1;
		rc = rc || transfer(fd, buf, LARGE) || transfer(fd, buf, SMALL);
	}
	perror(path);
	_exit(1);
}

static int start(struct client *c, const char *dir, int i)
{
	int ends[2];

	if (pipe2(ends, O_NONBLOCK))
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

/* Waits until the client reports that it transfers. */
static int wait_ready(const struct client *c)
{
	struct pollfd pfd = { c->ready, POLLIN, 0 };
	char byte;

	return poll(&pfd, 1, PATIENCE_MS) == 1 && read(c->ready, &byte, 1) == 1
		       ? 0
		       : -1;
}

/* Kills the client during a transfer.  Returns 0 if the signal has killed it. */
static int end(struct client *c)
{
	struct timespec moment = { 0, rand() % MOMENT_US * 1000 };
	int status;

	if (!wait_ready(c))
		nanosleep(&moment, NULL);
	kill(c->pid, SIGKILL);
	waitpid(c->pid, &status, 0);
	close(c->ready);
	c->pid = 0;
	return WIFSIGNALED(status) ? 0 : -1;
}

/* Stops the client during a transfer. */
static int stop(struct client *c)
{
	struct timespec moment = { 0, rand() % MOMENT_US * 1000 };

	if (wait_ready(c))
		return -1;
	nanosleep(&moment, NULL);
	return kill(c->pid, SIGSTOP);
}

/* Continues the client, and waits until it transfers again. */
static int go_on(struct client *c)
{
	char bytes[512];

	while (read(c->ready, bytes, sizeof(bytes)) > 0)
		;
	return kill(c->pid, SIGCONT) || wait_ready(c) ? -1 : 0;
}

static int stop_all(const char *dir, int count)
{
	struct client clients[ALIVE] = { { 0 } };
	int i, bad = 0;

	for (i = 0; i < count; i++)
		bad |= start(&clients[i], dir, i);
	for (i = 0; i < count; i++)
		bad |= stop(&clients[i]);
	if (!bad)
		printf("stopped %d\n", count);
	fflush(stdout);
	while (getchar() != EOF)
		;
	for (i = 0; i < count; i++)
		bad |= go_on(&clients[i]);
	for (i = 0; i < count; i++)
		bad |= end(&clients[i]);
	return bad;
}

static int usage(void)
{
	fprintf(stderr, "usage: pvkill DIR COUNT [stop]\n");
	return 2;
}

int main(int argc, char **argv)
{
	int count = argc >= 3 ? atoi(argv[2]) : 0, i, bad = 0;
	struct client clients[ALIVE] = { { 0 } };

	if (count <= 0 || argc > 4 || (argc == 4 && count > ALIVE))
		return usage();
	srand(1);
	if (argc == 4)
		return stop_all(argv[1], count) ? 1 : 0;
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
