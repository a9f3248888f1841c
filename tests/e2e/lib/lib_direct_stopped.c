/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib_direct_stopped.c - clients that stop during a write to a borrowed object, and clients that
 * call meanwhile. The file "held" has a lock, which shows when the session of its holder has ended.
 *
 * 	hold FILE	locks held, borrows it, creates FILE, and writes: the test stops the
 * 			client inside this write, which fails
 * 	gone FILE	as hold, for an object that is removed meanwhile: the write may succeed
 * 	half FILE	locks held, creates FILE, and writes to the file half across two
 * 			servers; one of the two objects is borrowed
 * 	late -		locks the file late, stops itself, and writes: this fails
 * 	lock NAME	waits for the lock on NAME
 * 	take NAME	waits for the lock on held, and writes to NAME
 * 	cut NAME	waits for the lock on held, truncates NAME to 0, and writes to it
 * 	end NAME	waits for the lock on held, and removes NAME
 * 	look NAME	prints the character that the last writer of NAME has written
 *
 * usage: lib_direct_stopped DIR MODE ARGUMENT
 */
#include <errno.h>
#include <fcntl.h>
#include <pvfs.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "tests/e2e/lib/expect.h"

#define HELD 1000
#define EDGE ((64 << 10) - HELD / 2) /* a write here needs two servers */

static const char *dir;

static int open_it(const char *name)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = pvfs_open(path, O_RDWR | O_CREAT, 0644);
	EXPECT(fd >= 0);
	return fd;
}

static int lock_it(int fd, int how)
{
	struct flock lk = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	return pvfs_fcntl(fd, how, &lk);
}

static ssize_t write_it(int fd, char c, off_t at)
{
	char buf[HELD];

	memset(buf, c, sizeof(buf));
	return pvfs_pwrite(fd, buf, sizeof(buf), at);
}

/* Writes until the object is borrowed. */
static void borrow(int fd)
{
	struct pvfs_way_counters w;

	for (int i = 0; i < 50; i++)
		EXPECT(write_it(fd, 'A', 0) == HELD);
	EXPECT(!pvfs_way_counters(fd, &w));
	EXPECT(w.without > 0);
}

static int hold_it(const char *name)
{
	int fd = open_it(name);

	EXPECT(!lock_it(fd, F_SETLKW));
	borrow(fd);
	return fd;
}

static void make(const char *file)
{
	int fd = open(file, O_CREAT | O_WRONLY, 0600);

	EXPECT(fd >= 0 && !close(fd));
}

static void hold(const char *file, bool gone)
{
	int fd = hold_it("held");
	ssize_t n;

	make(file);
	/* if the object was removed, the write changed no file */
	n = write_it(fd, 'A', 0);
	EXPECT(n < 0 ? errno == ECONNABORTED : gone && n == HELD);
	EXPECT_ERRNO(write_it(fd, 'A', 0), ESTALE);
	puts("stale");
}

/* Writes to a file without a lock; the lock on held shows when the session has ended. */
static void half(const char *file)
{
	int fd = hold_it("held"), other = open_it("half");

	borrow(other);
	/* so that the client does not send to a server that has closed the connection: io.c */
	usleep(600000);
	make(file);
	EXPECT_ERRNO(write_it(other, 'A', EDGE), ECONNABORTED);
	EXPECT(!pvfs_close(other) && !pvfs_close(fd));
	puts("aborted");
}

static void late(void)
{
	int fd = hold_it("late");

	raise(SIGSTOP);
	EXPECT_ERRNO(write_it(fd, 'A', 0), ESTALE);
	puts("stale");
}

static off_t place(const char *name)
{
	return strcmp(name, "half") ? 0 : EDGE;
}

static void end_it(const char *name)
{
	char path[256];
	int fd = open_it("held");

	EXPECT(!lock_it(fd, F_SETLKW));
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	EXPECT(!pvfs_unlink(path));
	EXPECT_ERRNO(pvfs_open(path, O_RDWR), ENOENT);
	EXPECT(!pvfs_close(fd));
}

static void take(const char *name, bool cut)
{
	int fd = open_it("held"), other = open_it(name);

	EXPECT(!lock_it(fd, F_SETLKW));
	if (cut)
		EXPECT(!pvfs_ftruncate(other, 0));
	for (int i = 0; i < 50; i++)
		EXPECT(write_it(other, 'B', place(name)) == HELD);
	EXPECT(!pvfs_close(other) && !pvfs_close(fd));
}

static void look(const char *name)
{
	int fd = open_it(name);
	char buf[HELD];

	EXPECT(pvfs_pread(fd, buf, sizeof(buf), place(name)) == sizeof(buf));
	for (int i = 1; i < HELD; i++)
		EXPECT(buf[i] == buf[0]);
	printf("%c\n", buf[0]);
	EXPECT(!pvfs_close(fd));
}

int main(int argc, char **argv)
{
	EXPECT(argc == 4);
	dir = argv[1];
	if (!strcmp(argv[2], "hold"))
		hold(argv[3], false);
	else if (!strcmp(argv[2], "gone"))
		hold(argv[3], true);
	else if (!strcmp(argv[2], "half"))
		half(argv[3]);
	else if (!strcmp(argv[2], "late"))
		late();
	else if (!strcmp(argv[2], "lock"))
		EXPECT(!lock_it(open_it(argv[3]), F_SETLKW));
	else if (!strcmp(argv[2], "take"))
		take(argv[3], false);
	else if (!strcmp(argv[2], "cut"))
		take(argv[3], true);
	else if (!strcmp(argv[2], "end"))
		end_it(argv[3]);
	else
		look(argv[3]);
	return 0;
}
