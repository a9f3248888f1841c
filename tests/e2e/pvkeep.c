/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pvkeep.c - a program that breaks the rules: it keeps a copy of the descriptor of an object that
 * an iod lends it.
 *
 * "pvkeep PATH" writes "first" to the file until the object is lent, and prints "kept". For each
 * byte of stdin it writes "FIRST" through the copy, and prints the result.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pvfs.h>

#define TRIES 60000 /* tries, of at least one millisecond each */

/* Returns whether the descriptor is that of an object, and open for writing. */
static bool is_object(const char *name)
{
	char path[300], to[512];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/self/fd/%s", name);
	n = readlink(path, to, sizeof(to) - 1);
	if (n < 0)
		return false;
	to[n] = '\0';
	return strstr(to, "/objects/") &&
	       (fcntl(atoi(name), F_GETFL) & O_ACCMODE) == O_RDWR;
}

/* Returns a copy of the lent descriptor, or -1. */
static int find_lent(void)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *de;
	int fd = -1;

	while (dir && fd < 0 && (de = readdir(dir)))
		if (is_object(de->d_name))
			fd = dup(atoi(de->d_name));
	if (dir)
		closedir(dir);
	return fd;
}

static int borrow(const char *path)
{
	int fd = pvfs_open(path, O_RDWR | O_CREAT, 0644), kept = -1;

	for (int i = 0; fd >= 0 && kept < 0 && i < TRIES; i++) {
		if (pvfs_pwrite(fd, "first", 5, 0) != 5)
			return -1;
		kept = find_lent();
		usleep(1000);
	}
	return kept;
}

int main(int argc, char **argv)
{
	int fd = argc == 2 ? borrow(argv[1]) : -1;
	char c;

	setbuf(stdout, NULL);
	if (fd < 0) {
		puts("nothing");
		return 1;
	}
	puts("kept");
	while (read(0, &c, 1) == 1)
		puts(pwrite(fd, "FIRST", 5, 0) == 5 ? "written" : "not");
	return 0;
}
