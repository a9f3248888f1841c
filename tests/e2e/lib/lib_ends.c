/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib_ends.c - reads the size of a file while other clients change it.
 *
 * 	lib_ends FILE rules	checks the results of calls after changes by another descriptor
 * 	lib_ends FILE asks N	reads the size N times, and prints how many of these reads
 * 				needed no request
 * 	lib_ends FILE race READERS SECONDS
 * 				one process changes the size, and READERS processes read it;
 * 				each result must be between the sizes that the file had during
 * 				the call; prints as asks does
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/mman.h>

#include <pvfs.h>
#include "tests/e2e/lib/racing.h"

static int open_it(const char *name, int flags)
{
	int fd = pvfs_open(name, flags, 0644);

	EXPECT(fd >= 0);
	return fd;
}

static int64_t end_of(int fd)
{
	int64_t end = pvfs_lseek(fd, 0, SEEK_END);
	struct stat st;

	EXPECT(end >= 0);
	EXPECT(pvfs_fstat(fd, &st) == 0);
	return end == st.st_size ? end : -2;
}

static void write_at(int fd, int64_t off, size_t len)
{
	static char data[1 << 20];

	EXPECT(pvfs_pwrite(fd, data, len, off) == (ssize_t)len);
}

static unsigned long without(int fd)
{
	struct pvfs_way_counters ways = { 0 };

	EXPECT(pvfs_way_counters(fd, &ways) == 0);
	return (unsigned long)ways.without;
}

/* Each change by one descriptor is visible to another one at once. */
static void by_others(const char *name, int fd)
{
	int reader = open_it(name, O_RDONLY);

	for (unsigned int i = 0; i < 3; i++)
		EXPECT(end_of(reader) == 0);
	write_at(fd, 0, 1);
	EXPECT(end_of(reader) == 1);
	write_at(fd, 1000000, 300000);
	EXPECT(end_of(reader) == 1300000);
	write_at(fd, 0, 1000);
	EXPECT(end_of(reader) == 1300000);
	EXPECT(pvfs_ftruncate(fd, 70000) == 0);
	EXPECT(end_of(reader) == 70000);
	EXPECT(pvfs_ftruncate(fd, 9000000) == 0);
	EXPECT(end_of(reader) == 9000000);
	EXPECT(pvfs_fallocate(fd, 0, 9000000, 123) == 0);
	EXPECT(end_of(reader) == 9000123);
	EXPECT(pvfs_ftruncate(fd, 0) == 0);
	EXPECT(end_of(reader) == 0);
	write_at(fd, 65536, 7);
	EXPECT(end_of(reader) == 65543);
	EXPECT(pvfs_close(reader) == 0);
}

/* The file still exists for a client that has it open. */
static void removed(const char *name, int fd)
{
	EXPECT(end_of(fd) == 65543);
	EXPECT(pvfs_unlink(name) == 0);
	write_at(fd, 100000, 5);
	EXPECT(end_of(fd) == 100005);
	EXPECT(pvfs_close(fd) == 0);
}

static void rules(const char *name)
{
	int fd = open_it(name, O_RDWR | O_CREAT | O_TRUNC);
	struct stat st, before;

	EXPECT(end_of(fd) == 0);
	by_others(name, fd);
	EXPECT(pvfs_fstat(fd, &before) == 0);
	usleep(20000);
	write_at(fd, 0, 10);
	EXPECT(pvfs_fstat(fd, &st) == 0);
	EXPECT(st.st_size == 65543 && st.st_blocks >= before.st_blocks);
	EXPECT(st.st_mtim.tv_sec > before.st_mtim.tv_sec ||
	       st.st_mtim.tv_nsec > before.st_mtim.tv_nsec);
	removed(name, fd);
	puts("ok");
}

static void asks(const char *name, unsigned int n)
{
	int fd = open_it(name, O_RDWR | O_CREAT);
	unsigned long before = without(fd);

	write_at(fd, 300000, 1);
	for (unsigned int i = 0; i < n; i++)
		EXPECT(pvfs_lseek(fd, 0, SEEK_END) == 300001);
	printf("%lu of %u without\n", without(fd) - before, n);
	EXPECT(pvfs_close(fd) == 0);
}

/* ---- the race: the number of a change is begun before it, and answered after it ---- */

#define CHANGES (1u << 20)

struct history {
	_Atomic uint64_t begun, answered; /* numbers of changes */
	_Atomic uint64_t reads, without;
	int64_t end[CHANGES]; /* the size after each change */
};

static struct history *history;

static bool truncates(uint64_t i)
{
	return i && (i % 7 == 0 || i % 50 == 0);
}

static void change(int fd, uint64_t i)
{
	int64_t end = history->end[i - 1];

	if (i % 50 == 0)
		end = 10;
	else if (i % 7 == 0)
		end = end > 400000 ? end - 300000 : end + 500000;
	else
		end += 1 + (int64_t)(i * 7919 % 90000);
	history->end[i] = end;
	atomic_store(&history->begun, i);
	if (truncates(i))
		EXPECT(pvfs_ftruncate(fd, end) == 0);
	else
		write_at(fd, end - 1, 1);
	atomic_store(&history->answered, i);
}

static void moves(const char *name, time_t stop)
{
	int fd = open_it(name, O_RDWR | O_CREAT | O_TRUNC);
	uint64_t i;

	for (i = 1; i < CHANGES && time(NULL) < stop; i++) {
		change(fd, i);
		if (i % 3 == 0)
			usleep(2000);
	}
	EXPECT(pvfs_close(fd) == 0);
}

/*
 * A result that was read from several iods may mix two moments within a change. A truncation in
 * flight may have cut the object of one iod, and a later write not yet have extended that of
 * another.
 */
static void judge(int64_t end, uint64_t first, uint64_t last)
{
	int64_t least = INT64_MAX, most = -1;

	for (uint64_t i = first; i <= last; i++) {
		if (i > first && truncates(i))
			least = 0;
		least = history->end[i] < least ? history->end[i] : least;
		most = history->end[i] > most ? history->end[i] : most;
	}
	if (end >= least && end <= most)
		return;
	fprintf(stderr,
		"the end is %lld, after change %lu and up to %lu it "
		"was between %lld and %lld\n",
		(long long)end, (unsigned long)first, (unsigned long)last,
		(long long)least, (long long)most);
	exit(1);
}

static void reads(const char *name, time_t stop)
{
	int fd = open_it(name, O_RDONLY);
	uint64_t first;
	int64_t end;

	while (time(NULL) < stop) {
		first = atomic_load(&history->answered);
		end = pvfs_lseek(fd, 0, SEEK_END);
		EXPECT(end >= 0);
		judge(end, first, atomic_load(&history->begun));
		atomic_fetch_add(&history->reads, 1);
	}
	atomic_fetch_add(&history->without, without(fd));
	EXPECT(pvfs_close(fd) == 0);
}

static void race(const char *name, int readers, unsigned int seconds)
{
	history = mmap(NULL, sizeof(*history), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	EXPECT(history != MAP_FAILED);
	EXPECT(pvfs_close(open_it(name, O_RDWR | O_CREAT | O_TRUNC)) == 0);
	race_for(name, readers, seconds, moves, reads);
	printf("%lu of %lu without, %lu changes\n",
	       (unsigned long)history->without, (unsigned long)history->reads,
	       (unsigned long)history->answered);
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[2], "rules"))
		rules(argv[1]);
	else if (argc == 4 && !strcmp(argv[2], "asks"))
		asks(argv[1], (unsigned int)atoi(argv[3]));
	else if (argc == 5 && !strcmp(argv[2], "race"))
		race(argv[1], atoi(argv[3]), (unsigned int)atoi(argv[4]));
	else
		return 2;
	return 0;
}
