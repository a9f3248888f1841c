/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pvledger.c - creates DIR and names in it, moves and removes them, and records each acknowledged
 * change, until the end of stdin. ENOSPC means that nothing was changed. At the end, the names must
 * match the record.
 *
 * usage: pvledger DIR SEED
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pvfs.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAMES 2000u
#define PAUSE_US 2000 /* after ENOSPC */

static const char *dir;
static unsigned int seed;
static bool there[NAMES];
static unsigned long done, refused;

static unsigned int rnd(unsigned int n)
{
	return (unsigned int)rand_r(&seed) / 7 % n;
}

static const char *path_of(unsigned int k, char path[256])
{
	snprintf(path, 256, "%s/a-name-that-takes-its-room-%u", dir, k);
	return path;
}

/* Returns 1 after ENOSPC, and -1 after another error. */
static int answered(int rc)
{
	if (!rc) {
		done++;
		return 0;
	}
	if (errno != ENOSPC)
		return -1;
	refused++;
	usleep(PAUSE_US);
	return 1;
}

static int create(unsigned int k)
{
	char path[256];
	int rc = answered(pvfs_mkdir(path_of(k, path), 0755));

	there[k] |= !rc;
	return rc;
}

static int move(unsigned int k, unsigned int to)
{
	char path[256], other[256];
	int rc = answered(pvfs_rename(path_of(k, path), path_of(to, other)));

	if (!rc) {
		there[k] = false;
		there[to] = true;
	}
	return rc;
}

static int removed(unsigned int k)
{
	char path[256];
	int rc = answered(pvfs_rmdir(path_of(k, path)));

	there[k] &= rc != 0;
	return rc;
}

/* Checks a name.  A lookup must not fail with ENOSPC. */
static int look(unsigned int k)
{
	char path[256];
	struct stat st;
	int rc = pvfs_stat(path_of(k, path), &st);

	if (rc && errno != ENOENT)
		return -1;
	if (!rc == there[k])
		return 0;
	fprintf(stderr, "pvledger: %s: %s\n", path, rc ? "lost" : "is there");
	errno = EIO;
	return -1;
}

static int step(void)
{
	unsigned int k = rnd(NAMES), to = rnd(NAMES);

	if (!rnd(4))
		return look(k);
	if (!there[k])
		return create(k);
	if (!there[to] && rnd(2))
		return move(k, to);
	return rnd(3) ? look(k) : removed(k);
}

static int check_all(void)
{
	for (unsigned int k = 0; k < NAMES; k++)
		if (look(k))
			return -1;
	return 0;
}

static bool go_on(void)
{
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };

	return !poll(&in, 1, 0);
}

static int run(void)
{
	while (pvfs_mkdir(dir, 0755))
		if (errno != ENOSPC)
			return -1;
	while (go_on())
		if (step() < 0)
			return -1;
	return check_all();
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	dir = argv[1];
	seed = (unsigned int)atoi(argv[2]);
	if (run()) {
		fprintf(stderr, "pvledger: %s\n", strerror(errno));
		return 1;
	}
	printf("%lu done, %lu refused\n", done, refused);
	return 0;
}
