/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib_warm.c - what is read again and again, while others change it.
 *
 *	lib_warm FILE rules	what reads get, of changes by others
 *	lib_warm FILE reads N	reads the same blocks N times, and prints how many
 *		shares of these reads needed no request
 *	lib_warm FILE race READERS SECONDS	one process overwrites blocks, cuts them
 *		off and punches them out; each block that others read without a request is
 *		whole, and all are of changes that were under way; prints as reads does
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "expect.h"
#include "pvfs.h"

#define BLOCK 4096u
#define BLOCKS 8u /* of the race; in stripes of 64 KiB */
#define AT(i) ((int64_t)(i)*65536 + 8192)

static int open_it(const char *name, int flags)
{
	int fd = pvfs_open(name, flags, 0644);

	EXPECT(fd >= 0);
	return fd;
}

static unsigned long without(int fd)
{
	struct pvfs_way_counters ways = { 0 };

	EXPECT(pvfs_way_counters(fd, &ways) == 0);
	return (unsigned long)ways.without;
}

/* Number n, all over it: so a block that is not whole is seen. */
static void put(int fd, unsigned int i, uint64_t n)
{
	uint64_t data[BLOCK / 8];

	for (unsigned int k = 0; k < BLOCK / 8; k++)
		data[k] = n;
	EXPECT(pvfs_pwrite(fd, data, BLOCK, AT(i)) == BLOCK);
}

static uint64_t get(int fd, unsigned int i)
{
	uint64_t data[BLOCK / 8];

	EXPECT(pvfs_pread(fd, data, BLOCK, AT(i)) == BLOCK);
	for (unsigned int k = 1; k < BLOCK / 8; k++)
		EXPECT(data[k] == data[0]);
	return data[0];
}

/* Until it is read without a request, where it can be. */
static void warm(int fd, unsigned int i, uint64_t n)
{
	for (unsigned int k = 0; k < 100; k++)
		EXPECT(get(fd, i) == n);
}

static void fill_all(int fd)
{
	for (unsigned int i = 0; i < BLOCKS; i++)
		put(fd, i, 1);
	put(fd, BLOCKS, 1); /* behind them */
}

static void by_others(const char *name, int fd)
{
	int reader = open_it(name, O_RDONLY), other;

	warm(reader, 0, 1);
	put(fd, 0, 2);
	EXPECT(get(reader, 0) == 2);
	warm(reader, 0, 2);
	EXPECT(pvfs_pwrite(fd, "x", 1, AT(0) - 1) == 1);
	warm(reader, 0, 2);
	EXPECT(pvfs_fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
			      AT(0), BLOCK) == 0);
	EXPECT(get(reader, 0) == 0);
	warm(reader, 0, 0);
	warm(reader, 1, 1);
	EXPECT(pvfs_ftruncate(fd, 0) == 0);
	EXPECT(pvfs_ftruncate(fd, AT(BLOCKS)) == 0);
	EXPECT(get(reader, 1) == 0);
	put(fd, 1, 3);
	warm(reader, 1, 3);
	other = open_it("/pvfs/warm.other", O_RDWR | O_CREAT | O_TRUNC);
	fill_all(other);
	EXPECT(pvfs_copy_file_range(other, &(int64_t){ 0 }, fd, &(int64_t){ 0 },
				    AT(3), 0) == AT(3));
	EXPECT(get(reader, 1) == 1);
	EXPECT(pvfs_close(other) == 0);
	EXPECT(pvfs_unlink("/pvfs/warm.other") == 0);
	EXPECT(pvfs_close(reader) == 0);
}

/* Pieces of blocks, several at a time, and the end. */
static void of_all_sizes(int fd)
{
	static unsigned char data[300000], back[300000];

	fill(data, sizeof(data), 4, 0);
	EXPECT(pvfs_pwrite(fd, data, sizeof(data), 0) == sizeof(data));
	EXPECT(pvfs_ftruncate(fd, sizeof(data)) == 0);
	for (unsigned int n = 0; n < 60; n++)
		for (size_t off = 0; off < sizeof(data); off += 9973) {
			size_t len = (n % 2 ? 20 : 9000) + off % 400;
			size_t want = sizeof(data) - off < len
					      ? sizeof(data) - off
					      : len;

			EXPECT(pvfs_pread(fd, back, len, (int64_t)off) ==
			       (ssize_t)want);
			EXPECT(filled(back, want, 4, off));
		}
}

static void rules(const char *name)
{
	int fd = open_it(name, O_RDWR | O_CREAT | O_TRUNC);

	fill_all(fd);
	by_others(name, fd);
	of_all_sizes(fd);
	EXPECT(pvfs_unlink(name) == 0);
	EXPECT(pvfs_close(fd) == 0);
	puts("ok");
}

static void reads(const char *name, unsigned int n)
{
	int fd = open_it(name, O_RDWR | O_CREAT | O_TRUNC);
	unsigned long before;

	fill_all(fd);
	before = without(fd);
	for (unsigned int i = 0; i < n; i++)
		EXPECT(get(fd, i % BLOCKS) == 1);
	printf("%lu of %u without\n", without(fd) - before, n);
	EXPECT(pvfs_close(fd) == 0);
}

/* ---- the race: of each block, changes that began, and that were answered ---- */

#define CHANGES 65536u

struct history {
	struct {
		_Atomic uint64_t begun, answered;
		uint64_t is[CHANGES]; /* behind each change */
	} block[BLOCKS];
	_Atomic uint64_t reads, without;
};

static struct history *history;

static void begins(unsigned int i, uint64_t n, uint64_t is)
{
	history->block[i].is[n] = is;
	atomic_store(&history->block[i].begun, n);
}

/* All blocks at once: nothing is left of them. */
static void cut(int fd, uint64_t n)
{
	for (unsigned int i = 0; i < BLOCKS; i++)
		begins(i, n, 0);
	if (n % 2)
		EXPECT(pvfs_fallocate(
			       fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
			       0, AT(BLOCKS)) == 0);
	else
		EXPECT(pvfs_fallocate(fd, FALLOC_FL_ZERO_RANGE, 0,
				      AT(BLOCKS)) == 0);
	for (unsigned int i = 0; i < BLOCKS; i++)
		atomic_store(&history->block[i].answered, n);
}

static void overwrites(const char *name, time_t stop)
{
	int fd = open_it(name, O_RDWR);

	for (uint64_t n = 2; n < CHANGES && time(NULL) < stop; n++) {
		if (n % 16 < 2) {
			cut(fd, n);
			continue;
		}
		for (unsigned int i = 0; i < BLOCKS; i++) {
			begins(i, n, n);
			put(fd, i, n);
			atomic_store(&history->block[i].answered, n);
		}
		usleep(n % 4 ? 1000 : 30000);
	}
	EXPECT(pvfs_close(fd) == 0);
}

static void judge(unsigned int i, uint64_t is, uint64_t first, uint64_t last)
{
	for (uint64_t n = first; n <= last; n++)
		if (history->block[i].is[n] == is)
			return;
	fprintf(stderr,
		"block %u is %lu, after change %lu, and %lu had begun\n", i,
		(unsigned long)is, (unsigned long)first, (unsigned long)last);
	exit(1);
}

/*
 * What needed no request is of one moment.  A READ takes what the kernel copies, which
 * may be in the middle of a write: each word is of some change that was under way.
 */
static void read_and_judge(int fd, unsigned int i)
{
	uint64_t first = atomic_load(&history->block[i].answered), last;
	unsigned long before = without(fd);
	uint64_t data[BLOCK / 8];
	bool alone;

	EXPECT(pvfs_pread(fd, data, BLOCK, AT(i)) == BLOCK);
	alone = without(fd) != before;
	last = atomic_load(&history->block[i].begun);
	for (unsigned int k = 0; k < BLOCK / 8; k++) {
		EXPECT(!alone || data[k] == data[0]);
		if (k == 0 || data[k] != data[k - 1])
			judge(i, data[k], first, last);
	}
	atomic_fetch_add(&history->reads, 1);
}

static void races(const char *name, time_t stop)
{
	int fd = open_it(name, O_RDONLY);

	for (unsigned int i = 0; time(NULL) < stop; i++)
		read_and_judge(fd, i / 50 % BLOCKS);
	atomic_fetch_add(&history->without, without(fd));
	EXPECT(pvfs_close(fd) == 0);
}

static void race(const char *name, int readers, unsigned int seconds)
{
	time_t stop = time(NULL) + seconds;
	int fd, status, failed = 0;

	history = mmap(NULL, sizeof(*history), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	EXPECT(history != MAP_FAILED);
	fd = open_it(name, O_RDWR | O_CREAT | O_TRUNC);
	fill_all(fd);
	for (unsigned int i = 0; i < BLOCKS; i++) {
		begins(i, 1, 1);
		atomic_store(&history->block[i].answered, 1);
	}
	EXPECT(pvfs_close(fd) == 0);
	for (int i = 0; i <= readers; i++) {
		if (fork() == 0) {
			if (i == 0)
				overwrites(name, stop);
			else
				races(name, stop);
			exit(0);
		}
	}
	for (int i = 0; i <= readers; i++) {
		EXPECT(wait(&status) > 0);
		failed |= status;
	}
	EXPECT(!failed);
	printf("%lu of %lu without, %lu changes\n",
	       (unsigned long)history->without, (unsigned long)history->reads,
	       (unsigned long)history->block[0].answered);
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[2], "rules"))
		rules(argv[1]);
	else if (argc == 4 && !strcmp(argv[2], "reads"))
		reads(argv[1], (unsigned int)atoi(argv[3]));
	else if (argc == 5 && !strcmp(argv[2], "race"))
		race(argv[1], atoi(argv[3]), (unsigned int)atoi(argv[4]));
	else
		return 2;
	return 0;
}
