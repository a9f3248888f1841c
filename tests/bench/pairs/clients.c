/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * clients.c - creates, stats and lookups of missing names by several clients, on two file systems
 * in turn.  clients N FOLDER-A FOLDER-B [OPERATION] prints for each operation, or for one, the
 * medians of both in microseconds of one client's call.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <pvfs.h>

#include "tests/bench/pairs/turns.h"

#define CLIENTS_MAX 64
#define TURNS 15u /* measurements of each file system */
#define TURN_US 60000.0
#define FILES 64u /* number of files for stat */

struct order {
	unsigned int side, op;
};

struct client {
	const char *dirs[2];
	unsigned int id; /* number that is in the name of its folder */
	unsigned int made[2];
};

/* ---- a client ---- */

static void name_of(const struct client *c, unsigned int side, const char *kind,
		    unsigned int k, char name[512])
{
	snprintf(name, 512, "%s/client-%u/%s-%u", c->dirs[side], c->id, kind,
		 k);
}

static void make(const char *name)
{
	int fd = pvfs_open(name, O_CREAT | O_EXCL | O_WRONLY, 0600);

	if (fd < 0 || pvfs_close(fd))
		turns_die(name);
}

static void create_one(struct client *c, unsigned int side)
{
	char name[512];

	name_of(c, side, "made", c->made[side]++, name);
	make(name);
}

static void stat_one(struct client *c, unsigned int side)
{
	struct stat st;
	char name[512];

	name_of(c, side, "file", (unsigned int)random() % FILES, name);
	if (pvfs_stat(name, &st))
		turns_die(name);
}

static void look_up_one(struct client *c, unsigned int side)
{
	struct stat st;
	char name[512];

	name_of(c, side, "none", (unsigned int)random(), name);
	if (!pvfs_stat(name, &st) || errno != ENOENT)
		turns_die(name);
}

static const struct op {
	const char *name;
	void (*one)(struct client *c, unsigned int side);
} ops[] = {
	{ "create", create_one },
	{ "stat", stat_one },
	{ "lookup", look_up_one },
};

#define OPS (sizeof(ops) / sizeof(ops[0]))

static void prepare(const struct client *c, unsigned int side)
{
	char name[512];

	snprintf(name, sizeof(name), "%s/client-%u", c->dirs[side], c->id);
	if (pvfs_mkdir(name, 0700))
		turns_die(name);
	for (unsigned int k = 0; k < FILES; k++) {
		name_of(c, side, "file", k, name);
		make(name);
	}
}

/* Executes each order, and answers with the microseconds of a call. */
static void serve(struct client *c, int sock)
{
	struct order order;
	double begin, us;

	for (unsigned int side = 0; side < 2; side++)
		prepare(c, side);
	us = 0;
	if (write(sock, &us, sizeof(us)) != sizeof(us))
		turns_die("write");
	while (read(sock, &order, sizeof(order)) == sizeof(order)) {
		unsigned int calls = 0;

		begin = turns_now();
		do {
			ops[order.op].one(c, order.side);
			calls++;
		} while (turns_now() - begin < TURN_US);
		us = (turns_now() - begin) / calls;
		if (write(sock, &us, sizeof(us)) != sizeof(us))
			turns_die("write");
	}
}

/* ---- all clients ---- */

static int sockets[CLIENTS_MAX];

static void start_client(unsigned int rank, char **dirs)
{
	struct client c = { .dirs = { dirs[0], dirs[1] } };
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		turns_die("socketpair");
	switch (fork()) {
	case -1:
		turns_die("fork");
		break;
	case 0:
		for (unsigned int k = 0; k < rank; k++)
			close(sockets[k]);
		close(pair[0]);
		c.id = (unsigned int)getpid();
		serve(&c, pair[1]);
		exit(0);
	}
	close(pair[1]);
	sockets[rank] = pair[0];
}

/* Returns the mean of the answers of n clients. */
static double collect(unsigned int n)
{
	double sum = 0, us;

	for (unsigned int k = 0; k < n; k++) {
		if (read(sockets[k], &us, sizeof(us)) != sizeof(us))
			turns_die("a client");
		sum += us;
	}
	return sum / n;
}

static double turn(unsigned int n, const struct order *order)
{
	for (unsigned int k = 0; k < n; k++)
		if (write(sockets[k], order, sizeof(*order)) != sizeof(*order))
			turns_die("a client");
	return collect(n);
}

static void measure(unsigned int n, unsigned int op)
{
	double took[2][TURNS];

	for (unsigned int t = 0; t < TURNS; t++)
		for (unsigned int k = 0; k < 2; k++) {
			struct order order = { (t + k) % 2, op };

			took[order.side][t] = turn(n, &order);
		}
	printf("%s %.3f %.3f\n", ops[op].name, turns_median(took[0], TURNS),
	       turns_median(took[1], TURNS));
	fflush(stdout);
}

int main(int argc, char **argv)
{
	unsigned int n = argc == 4 || argc == 5 ? (unsigned int)atoi(argv[1])
						: 0;

	if (!n || n > CLIENTS_MAX) {
		fprintf(stderr,
			"usage: clients N FOLDER-A FOLDER-B [OPERATION]\n");
		return 2;
	}
	for (unsigned int k = 0; k < n; k++)
		start_client(k, argv + 2);
	collect(n);
	for (unsigned int op = 0; op < OPS; op++)
		if (argc == 4 || !strcmp(argv[4], ops[op].name))
			measure(n, op);
	return 0;
}
