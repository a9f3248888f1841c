/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * creates.c - creates and closes files in FOLDER without a pause.  For each line of the standard
 * input, it prints the calls since the last line, and the longest one in milliseconds.  Ends at the
 * end of the input, or if a call fails.
 */
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <unistd.h>

#include <pvfs.h>

#include "tests/bench/pairs/turns.h"

/* number of files in a folder, so that folders stay small */
#define IN_FOLDER 1000u

static double longest;

static void note(double began)
{
	double took = turns_now() - began;

	if (took > longest)
		longest = took;
}

static void create_one(const char *folder, unsigned int k)
{
	char name[512];
	double began = turns_now();
	int fd;

	if (k % IN_FOLDER == 0) {
		snprintf(name, sizeof(name), "%s/%u", folder, k / IN_FOLDER);
		if (pvfs_mkdir(name, 0700))
			turns_die(name);
	}
	snprintf(name, sizeof(name), "%s/%u/%u", folder, k / IN_FOLDER, k);
	began = turns_now();
	fd = pvfs_open(name, O_CREAT | O_EXCL | O_WRONLY, 0600);
	if (fd < 0)
		turns_die(name);
	note(began);
	began = turns_now();
	if (pvfs_close(fd))
		turns_die(name);
	note(began);
}

static bool has_input(void)
{
	struct pollfd fd = { .fd = STDIN_FILENO, .events = POLLIN };

	return poll(&fd, 1, 0) > 0;
}

int main(int argc, char **argv)
{
	char line[16];
	unsigned int before = 0;

	if (argc != 2) {
		fprintf(stderr, "usage: creates FOLDER\n");
		return 2;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	setvbuf(stdin, NULL, _IONBF, 0);
	for (unsigned int k = 0;; k++) {
		create_one(argv[1], k);
		if (!has_input())
			continue;
		if (!fgets(line, sizeof(line), stdin))
			return 0;
		printf("%u %.1f\n", k + 1 - before, longest / 1000);
		before = k + 1;
		longest = 0;
	}
}
