/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pvrolling.c - a program that works while servers are upgraded.
 *
 * 	pvrolling DIR BOOK COUNTER
 *
 * If BOOK exists, continues from it: first checks that all acknowledged changes are in DIR. Then
 * writes, reads, moves, lists and removes files in DIR until the file BOOK.end exists. Also counts
 * in the file COUNTER under a lock, as other processes do. Checks every result, and exits with 1 at
 * any error. BOOK records the acknowledged changes. Prints a line "N done" after every 10.
 *
 * It uses only calls of the previous release, because that release's libpvfs runs it, too.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pvfs.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILES 24u
#define MOST 400000u

static const char *dir, *counter;
static struct {
	/* determines the content; 0: the file does not exist */
	unsigned long version;
	unsigned long moved; /* a part of the name */
} book[FILES];
static unsigned long counted, done;
static unsigned int seed;
static unsigned char have[MOST + 1], want[MOST + 8];

static unsigned int rnd(unsigned int n)
{
	return (unsigned int)rand_r(&seed) / 7 % n;
}

static int flaw(const char *what, const char *path)
{
	fprintf(stderr, "pvrolling: %s: %s: %s\n", path, what,
		errno ? strerror(errno) : "is wrong");
	return -1;
}

static const char *path_of(unsigned int k, unsigned long moved, char path[300])
{
	snprintf(path, 300, "%s/f%u.%lu", dir, k, moved);
	return path;
}

/* Fills in the content of a version, and returns its size. */
static size_t bytes_of(unsigned int k, unsigned long version)
{
	size_t len = 1 + (k * 7919 + version * 104729) % MOST;
	uint64_t x = version * 0x9e3779b97f4a7c15u + k + 1;

	for (size_t i = 0; i < len; i += sizeof(x)) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		memcpy(want + i, &x, sizeof(x));
	}
	return len;
}

/* Repeats a partial write: an iod may end during it, as during any write. */
static int put_all(int fd, const unsigned char *at, size_t len)
{
	int64_t off = 0;

	while ((size_t)off < len) {
		ssize_t n = pvfs_pwrite(fd, at + off, len - (size_t)off, off);

		if (n <= 0)
			return -1;
		off += n;
	}
	return 0;
}

static ssize_t get_all(int fd, size_t room)
{
	size_t got = 0;
	ssize_t n;

	do {
		n = pvfs_pread(fd, have + got, room - got, (int64_t)got);
		got += n > 0 ? (size_t)n : 0;
	} while (n > 0 && got < room);
	return n < 0 ? -1 : (ssize_t)got;
}

static int put(unsigned int k)
{
	unsigned long version = book[k].version + 1;
	char path[300];
	size_t len = bytes_of(k, version);
	int fd = pvfs_open(path_of(k, book[k].moved, path),
			   O_WRONLY | O_CREAT | O_TRUNC, 0644);

	if (fd < 0)
		return flaw("open to write", path);
	if (put_all(fd, want, len) || pvfs_fsync(fd) || pvfs_close(fd))
		return flaw("write", path);
	book[k].version = version;
	return 0;
}

static int look(unsigned int k)
{
	size_t len = bytes_of(k, book[k].version);
	char path[300];
	int fd = pvfs_open(path_of(k, book[k].moved, path), O_RDONLY);
	ssize_t n;

	if (fd < 0 && errno == ENOENT && !book[k].version)
		return 0;
	if (fd < 0)
		return flaw("open to read", path);
	n = get_all(fd, sizeof(have));
	if (n < 0 || pvfs_close(fd))
		return flaw("read", path);
	errno = 0;
	if (!book[k].version)
		return flaw("is there again", path);
	return (size_t)n == len && !memcmp(have, want, len)
		       ? 0
		       : flaw("its bytes", path);
}

static int move(unsigned int k)
{
	char from[300], to[300];

	if (pvfs_rename(path_of(k, book[k].moved, from),
			path_of(k, book[k].moved + 1, to)))
		return flaw("rename", from);
	book[k].moved++;
	return 0;
}

static int drop(unsigned int k)
{
	char path[300];

	if (pvfs_unlink(path_of(k, book[k].moved, path)))
		return flaw("unlink", path);
	book[k].version = 0;
	book[k].moved++;
	return 0;
}

static bool is_in_book(const char *name)
{
	unsigned long moved;
	unsigned int k;

	return sscanf(name, "f%u.%lu", &k, &moved) == 2 && k < FILES &&
	       book[k].version && book[k].moved == moved;
}

static int list(void)
{
	unsigned int n = 0;
	struct dirent *de;
	PVFS_DIR *d = pvfs_opendir(dir);

	if (!d)
		return flaw("opendir", dir);
	for (errno = 0; (de = pvfs_readdir(d)); errno = 0) {
		if (de->d_name[0] == '.')
			continue;
		if (!is_in_book(de->d_name))
			return flaw("should not be there", de->d_name);
		n++;
	}
	if (errno || pvfs_closedir(d))
		return flaw("readdir", dir);
	for (unsigned int k = 0; k < FILES; k++)
		n -= book[k].version != 0;
	return n ? flaw("the number of its names", dir) : 0;
}

static int lock(int fd, short how)
{
	struct flock l = { .l_type = how, .l_whence = SEEK_SET };

	return pvfs_fcntl(fd, F_SETLKW, &l);
}

/* If two processes held the lock at once, the counter would be too small. */
static int count(void)
{
	uint64_t n = 0;
	int fd = pvfs_open(counter, O_RDWR | O_CREAT, 0644);

	if (fd < 0 || lock(fd, F_WRLCK) || pvfs_pread(fd, &n, sizeof(n), 0) < 0)
		return flaw("lock and read", counter);
	n++;
	if (pvfs_pwrite(fd, &n, sizeof(n), 0) != sizeof(n) ||
	    lock(fd, F_UNLCK) || pvfs_close(fd))
		return flaw("write and unlock", counter);
	counted++;
	return 0;
}

static int step(void)
{
	unsigned int k = rnd(FILES), what = rnd(8);

	if (what == 0)
		return list();
	if (what == 1)
		return count();
	if (!book[k].version || what < 4)
		return put(k);
	if (what == 4)
		return move(k);
	return what == 5 && !rnd(3) ? drop(k) : look(k);
}

static int look_all(void)
{
	for (unsigned int k = 0; k < FILES; k++)
		if (look(k))
			return -1;
	return list();
}

static int run(const char *end)
{
	if (pvfs_mkdir(dir, 0755) && errno != EEXIST)
		return flaw("mkdir", dir);
	if (look_all())
		return -1;
	while (access(end, F_OK)) {
		if (step())
			return -1;
		if (++done % 10 == 0)
			printf("%lu done\n", done);
	}
	return look_all();
}

static void read_book(FILE *f)
{
	if (fscanf(f, "%lu", &counted) != 1)
		exit(2);
	for (unsigned int k = 0; k < FILES; k++)
		if (fscanf(f, "%lu %lu", &book[k].version, &book[k].moved) != 2)
			exit(2);
	fclose(f);
}

static int write_book(FILE *f)
{
	fprintf(f, "%lu\n", counted);
	for (unsigned int k = 0; k < FILES; k++)
		fprintf(f, "%lu %lu\n", book[k].version, book[k].moved);
	return fclose(f);
}

int main(int argc, char **argv)
{
	char end[300];
	FILE *f;

	if (argc != 4)
		return 2;
	snprintf(end, sizeof(end), "%s.end", argv[2]);
	dir = argv[1];
	counter = argv[3];
	seed = (unsigned int)getpid();
	setvbuf(stdout, NULL, _IOLBF, 0);
	f = fopen(argv[2], "r");
	if (f)
		read_book(f);
	printf("libpvfs %s\n", pvfs_version());
	if (run(end))
		return 1;
	f = fopen(argv[2], "w");
	return f && !write_book(f) ? 0 : 2;
}
