/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pvatexit.c - a program whose first write happens at its exit, like the flush of a buffer. So the
 * library connects during the exit.
 *
 * usage: pvatexit FILE
 */
#include <fcntl.h>
#include <pvfs.h>
#include <stdlib.h>

#include "tests/e2e/lib/expect.h"

static const char text[] = "written at the end\n";
static int fd;

static void at_end(void)
{
	EXPECT(pvfs_write(fd, text, sizeof(text) - 1) == sizeof(text) - 1);
	EXPECT(pvfs_close(fd) == 0);
	puts("ok");
	fflush(stdout);
}

int main(int argc, char **argv)
{
	EXPECT(argc == 2);
	EXPECT(atexit(at_end) == 0);
	fd = pvfs_open(argv[1], O_WRONLY | O_CREAT | O_TRUNC, 0644);
	EXPECT(fd >= 0);
	return 0;
}
