/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib_warm.c - processes read blocks repeatedly, by shared memory if possible, while others change
 * them.
 *
 * 	lib_warm FILE rules	checks the results of reads after changes by another descriptor
 * 	lib_warm FILE reads N	reads the same blocks N times, and prints how many of these
 * 				reads needed no request
 * 	lib_warm FILE lent TAB	a program on the iods' host, with the mount of TAB, writes
 * 				without a request; each later read returns what it wrote
 * 	lib_warm FILE race READERS SECONDS
 * 				one process overwrites blocks, zeroes them and punches holes;
 * 				each read returns content of a change that was in flight, and
 * 				without a request all of it of one change; prints as reads does
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>

#include "tests/e2e/lib/racing.h"
#include "tests/e2e/lib/warm.h"

/* Reads a block so often that it is read without a request, if that is possible. */
static void warm(int fd, unsigned int i, uint64_t n)
{
	for (unsigned int k = 0; k < 100; k++)
		EXPECT(get(fd, i) == n);
}

/* Writes a block as two pieces of the file, from two pieces of memory. */
static void put_list(int fd, unsigned int i, uint64_t n)
{
	uint64_t data[BLOCK / 8];
	char *mem[] = { (char *)data, (char *)data + 1000 };
	int32_t mem_len[] = { 1000, BLOCK - 1000 };
	int64_t at[] = { AT(i), AT(i) + 2000 };
	int32_t len[] = { 2000, BLOCK - 2000 };

	for (unsigned int k = 0; k < BLOCK / 8; k++)
		data[k] = n;
	EXPECT(pvfs_write_list(fd, 2, mem, mem_len, 2, at, len) == BLOCK);
}

static void by_small_writes(int fd, int reader)
{
	warm(reader, 0, 1);
	put(fd, 0, 2);
	EXPECT(get(reader, 0) == 2);
	warm(reader, 0, 2);
	EXPECT(pvfs_pwrite(fd, "x", 1, AT(0) - 1) == 1);
	warm(reader, 0, 2);
	put_list(fd, 0, 3);
	EXPECT(get(reader, 0) == 3);
	warm(reader, 0, 3);
}

static void by_space(int fd, int reader)
{
	EXPECT(pvfs_fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
			      AT(0), BLOCK) == 0);
	EXPECT(get(reader, 0) == 0);
	warm(reader, 0, 0);
	warm(reader, 1, 1);
	EXPECT(pvfs_fallocate(fd, FALLOC_FL_ZERO_RANGE, AT(1), BLOCK) == 0);
	EXPECT(get(reader, 1) == 0);
	put(fd, 1, 2);
	warm(reader, 1, 2);
	EXPECT(pvfs_fallocate(fd, 0, 0, 2 * AT(BLOCKS)) == 0);
	warm(reader, 1, 2);
}

static void by_truncation(int fd, int reader)
{
	EXPECT(pvfs_ftruncate(fd, 0) == 0);
	EXPECT(pvfs_ftruncate(fd, AT(BLOCKS)) == 0);
	EXPECT(get(reader, 1) == 0);
	put(fd, 1, 3);
	warm(reader, 1, 3);
}

static void by_much(int fd, int reader)
{
	static const char big[AT(BLOCKS)];
	int other;

	EXPECT(pvfs_pwrite(fd, big, sizeof(big), 0) == sizeof(big));
	EXPECT(get(reader, 1) == 0);
	warm(reader, 1, 0);
	other = open_it("/pvfs/warm.other", O_RDWR | O_CREAT | O_TRUNC);
	fill_all(other);
	EXPECT(pvfs_copy_file_range(other, &(int64_t){ 0 }, fd, &(int64_t){ 0 },
				    AT(3), 0) == AT(3));
	EXPECT(get(reader, 1) == 1);
	EXPECT(pvfs_close(other) == 0);
	EXPECT(pvfs_unlink("/pvfs/warm.other") == 0);
}

/* A new file of the same name has its own blocks. */
static void by_removal(const char *name, int fd, int reader)
{
	int other;

	warm(reader, 1, 1);
	EXPECT(pvfs_unlink(name) == 0);
	other = open_it(name, O_RDWR | O_CREAT);
	EXPECT(pvfs_ftruncate(other, AT(BLOCKS)) == 0);
	EXPECT(get(other, 1) == 0);
	put(other, 1, 7);
	warm(other, 1, 7);
	EXPECT(pvfs_close(other) == 0);
}

static void by_others(const char *name, int fd)
{
	int reader = open_it(name, O_RDONLY);

	by_small_writes(fd, reader);
	by_space(fd, reader);
	by_truncation(fd, reader);
	by_much(fd, reader);
	by_removal(name, fd, reader);
	EXPECT(pvfs_close(reader) == 0);
}

/* Reads parts of blocks, several blocks at a time, and at the end of the file. */
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
	EXPECT(pvfs_close(fd) == 0);
	fd = open_it(name, O_RDWR);
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

/* ---- the race: for each block, the numbers of changes that began and that completed ---- */

#define CHANGES 65536u

struct history {
	struct {
		_Atomic uint64_t begun, answered;
		uint64_t is[CHANGES]; /* the value after each change */
	} block[BLOCKS];
	_Atomic uint64_t reads, without;
};

static struct history *history;

static void begins(unsigned int i, uint64_t n, uint64_t is)
{
	history->block[i].is[n] = is;
	atomic_store(&history->block[i].begun, n);
}

/* Punches or zeroes all blocks at once. */
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
 * A read without a request returns one version of the block. A READ returns what the kernel copies,
 * perhaps during a write. So each word must belong to some change that was in flight.
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
	int fd;

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
	race_for(name, readers, seconds, overwrites, races);
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
	else if (argc == 4 && !strcmp(argv[2], "lent"))
		warm_lent(argv[1], argv[3]);
	else if (argc == 5 && !strcmp(argv[2], "race"))
		race(argv[1], atoi(argv[3]), (unsigned int)atoi(argv[4]));
	else
		return 2;
	return 0;
}
