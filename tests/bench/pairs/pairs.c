/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pairs.c - compares two file systems with one client: calls of 4 KiB and of 4 MiB, and creates.
 * It makes a few calls on one, then a few on the other, so that other load of the machine affects
 * both.  pairs FOLDER-A FOLDER-B prints for each operation the medians of both in microseconds.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pvfs.h>

#include "tests/bench/pairs/turns.h"

#define PIECE 4096u
#define PIECES 256u
#define BULK (4u << 20)
#define TURNS 1000u /* maximum number of turns of each file system */

struct side {
	const char *dir;
	int fd;
	unsigned int made; /* number of files that exist */
};

static off_t somewhere(void)
{
	return (off_t)((unsigned int)random() % PIECES * PIECE);
}

static void write_one(struct side *s)
{
	static const char piece[PIECE];

	if (pvfs_pwrite(s->fd, piece, PIECE, somewhere()) != PIECE)
		turns_die("write");
}

static void read_one(struct side *s)
{
	char piece[PIECE];

	if (pvfs_pread(s->fd, piece, PIECE, somewhere()) != PIECE)
		turns_die("read");
}

static char bulk[BULK];

static void write_bulk(struct side *s)
{
	if (pvfs_pwrite(s->fd, bulk, BULK, 0) != BULK)
		turns_die("write");
}

static void read_bulk(struct side *s)
{
	if (pvfs_pread(s->fd, bulk, BULK, 0) != BULK)
		turns_die("read");
}

static void name_of(const struct side *s, unsigned int k, char name[512])
{
	snprintf(name, 512, "%s/made-%u", s->dir, k);
}

static void create_one(struct side *s)
{
	char name[512];
	int fd;

	name_of(s, s->made++, name);
	fd = pvfs_open(name, O_CREAT | O_EXCL | O_WRONLY, 0600);
	if (fd < 0 || pvfs_close(fd))
		turns_die(name);
}

static void remove_made(struct side *s)
{
	char name[512];

	while (s->made) {
		name_of(s, --s->made, name);
		if (pvfs_unlink(name))
			turns_die(name);
	}
}

static const struct op {
	const char *name;
	void (*one)(struct side *s);
	unsigned int turns;
	unsigned int calls; /* number of calls in a turn */
} ops[] = {
	{ "write", write_one, TURNS, 8 },
	{ "read", read_one, TURNS, 8 },
	{ "create", create_one, TURNS / 8, 8 },
	{ "write-4M", write_bulk, TURNS / 8, 1 },
	{ "read-4M", read_bulk, TURNS / 8, 1 },
};

#define OPS (sizeof(ops) / sizeof(ops[0]))

/* Makes the calls of one turn.  Returns microseconds for each call. */
static double turn(const struct op *op, struct side *s)
{
	double since = turns_now();

	for (unsigned int k = 0; k < op->calls; k++)
		op->one(s);
	return (turns_now() - since) / op->calls;
}

/* Measures an operation on both sides. us gets the medians in microseconds. */
static void pair(const struct op *op, struct side side[2], double us[2])
{
	double took[2][TURNS];

	for (unsigned int t = 0; t < op->turns; t++) {
		took[t % 2][t] = turn(op, &side[t % 2]);
		took[!(t % 2)][t] = turn(op, &side[!(t % 2)]);
	}
	for (unsigned int k = 0; k < 2; k++) {
		us[k] = turns_median(took[k], op->turns);
		remove_made(&side[k]);
	}
}

static void begin(struct side *s, const char *dir)
{
	char name[512];

	*s = (struct side){ .dir = dir };
	snprintf(name, sizeof(name), "%s/pieces", dir);
	s->fd = pvfs_open(name, O_CREAT | O_RDWR, 0600);
	if (s->fd < 0 || pvfs_ftruncate(s->fd, PIECES * PIECE))
		turns_die(name);
	for (unsigned int k = 0; k < 4 * PIECES; k++)
		write_one(s);
	write_bulk(s);
}

int main(int argc, char **argv)
{
	struct side side[2];
	double us[2];

	if (argc != 3) {
		fprintf(stderr, "usage: pairs FOLDER-A FOLDER-B\n");
		return 2;
	}
	for (unsigned int k = 0; k < 2; k++)
		begin(&side[k], argv[1 + k]);
	for (unsigned int k = 0; k < OPS; k++) {
		pair(&ops[k], side, us);
		printf("%s %.3f %.3f\n", ops[k].name, us[0], us[1]);
	}
	return 0;
}
