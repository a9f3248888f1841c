/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pvcrowd.c - N client processes open FILE, write one byte, and keep FILE open until the end of
 * stdin. Prints how many of them could open and write it.
 *
 * usage: pvcrowd FILE N
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <pvfs.h>

/* Writes the file and reports the result to the pipe `told`, then waits for the end of `go`. */
static void be_client(const char *path, int told, int go)
{
	int fd;
	char c;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	fd = pvfs_open(path, O_RDWR | O_CREAT, 0644);
	c = fd >= 0 && pvfs_pwrite(fd, "x", 1, 0) == 1 ? 'y' : 'n';
	if (write(told, &c, 1) != 1 || read(go, &c, 1))
		_exit(1);
	_exit(0);
}

int main(int argc, char **argv)
{
	unsigned int i, n = argc == 3 ? (unsigned int)atoi(argv[2]) : 0,
			yes = 0;
	int told[2], go[2];
	char c;

	if (!n || pipe(told) || pipe(go))
		return 2;
	for (i = 0; i < n; i++) {
		if (fork())
			continue;
		close(go[1]);
		be_client(argv[1], told[1], go[0]);
	}
	close(told[1]); /* a client that dies ends the wait for its report */
	for (i = 0; i < n && read(told[0], &c, 1) == 1; i++)
		yes += c == 'y';
	printf("opened %u, failed %u\n", yes, n - yes);
	fflush(stdout);
	while (read(0, &c, 1) > 0)
		;
	close(go[1]);
	while (wait(NULL) > 0)
		;
	return 0;
}
