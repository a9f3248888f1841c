/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * lib_blocks.c - compares st_blocks of a closed file with the blocks of its objects on the iods.
 * Each file is written in another way.
 *
 * usage: lib_blocks DIR STATE (STATE contains the storage folders of the iods)
 */
#include <glob.h>
#include <signal.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/e2e/lib/expect.h"
#include "tests/e2e/lib/quiet_fork.h"
#include <pvfs.h>
#include <pvfs_aio.h>

#define KIB 1024
#define MIB (1024 * KIB)
#define GIB (1024 * (int64_t)MIB)
/* the maximum number of blocks that objects use beyond their bytes */
#define ROUND 256

static const char *state;
static char path[300], other[300];
static char data[MIB];

static int make(const char *name, int flags)
{
	int fd = pvfs_open(name, O_RDWR | O_CREAT | flags, 0644);

	EXPECT(fd >= 0);
	return fd;
}

static void put(int fd, int64_t off, size_t len)
{
	EXPECT(pvfs_pwrite(fd, data, len, off) == (ssize_t)len);
}

static void drop(int fd)
{
	EXPECT(pvfs_close(fd) == 0);
}

/* ---- ways to write a file ---- */

static void longer_then_written(void)
{
	int fd = make(path, 0);

	EXPECT(pvfs_ftruncate(fd, 8192 * GIB) == 0);
	put(fd, 5 * GIB, MIB);
	drop(fd);
}

static void behind_the_end(void)
{
	int fd = make(path, 0);

	put(fd, GIB, 100);
	drop(fd);
}

static void written_then_longer(void)
{
	int fd = make(path, 0);

	put(fd, 0, 300 * KIB);
	drop(fd);
	EXPECT(pvfs_truncate(path, GIB) == 0);
}

static void cut_in_a_hole(void)
{
	int fd = make(path, 0);

	put(fd, 0, MIB);
	put(fd, GIB, MIB);
	drop(fd);
	EXPECT(pvfs_truncate(path, GIB / 2) == 0);
}

static void cut_open_then_behind(void)
{
	int fd = make(path, 0);

	for (int i = 0; i < 4; i++)
		put(fd, i * MIB, MIB);
	EXPECT(pvfs_ftruncate(fd, 100) == 0);
	put(fd, 3 * MIB, 100);
	drop(fd);
}

static void appended_behind(void)
{
	int fd = make(path, O_APPEND);

	EXPECT(pvfs_ftruncate(fd, GIB) == 0);
	EXPECT(pvfs_write(fd, data, MIB) == MIB);
	drop(fd);
}

static void two_pieces(const int64_t off[2])
{
	static const int64_t each[] = { 64 * KIB, 64 * KIB };
	char *mem[] = { data };
	size_t len = 128 * KIB;
	int fd = make(path, 0);

	EXPECT(pvfs_write_list64(fd, 1, mem, &len, NULL, NULL, 2, off, each) ==
	       128 * KIB);
	drop(fd);
}

static void list_with_gaps(void)
{
	static const int64_t off[] = { 0, 16 * MIB };

	two_pieces(off);
}

static void partition(void)
{
	struct fpart part = { .offset = 0, .gsize = 4096, .stride = 2 * MIB };
	int fd = make(path, 0);

	EXPECT(pvfs_ioctl(fd, SETPART, &part) == 0);
	EXPECT(pvfs_write(fd, data, 64 * KIB) == 64 * KIB);
	drop(fd);
}

static void asynchronous(void)
{
	struct pvfs_aio aio = { 0 }, *list = &aio, *ended;
	struct pvfs_aio_queue *q;
	int fd = make(path, 0);

	EXPECT(pvfs_aio_queue_new(0, &q) == 0);
	pvfs_aio_prep_write(&aio, fd, data, MIB, GIB);
	EXPECT(pvfs_aio_submit(q, &list, 1) == 0);
	EXPECT(pvfs_aio_wait(q, &ended, 1, 1, -1) == 1);
	EXPECT(aio.result == MIB);
	pvfs_aio_queue_free(q);
	drop(fd);
}

static void more_than_it_has(void)
{
	int fd = make(path, 0);

	put(fd, 0, MIB);
	EXPECT(pvfs_fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, 8 * MIB) == 0);
	drop(fd);
}

static void punched(void)
{
	int fd = make(path, 0);

	for (int i = 0; i < 4; i++)
		put(fd, i * MIB, MIB);
	EXPECT(pvfs_fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
			      MIB, 2 * MIB) == 0);
	drop(fd);
}

/* Copies the first 8 MiB of other to the new file path. */
static void copy(void)
{
	int in = pvfs_open(other, O_RDONLY), out = make(path, 0);
	int64_t from = 0, to = 0;

	EXPECT(in >= 0);
	while (to < 8 * MIB)
		EXPECT(pvfs_copy_file_range(in, &from, out, &to,
					    (size_t)(8 * MIB - to), 0) > 0);
	drop(in);
	drop(out);
}

static void copied(void)
{
	int fd = make(other, O_TRUNC);

	put(fd, 0, MIB);
	put(fd, 7 * MIB, MIB);
	drop(fd);
	copy();
}

static void writer_died(void)
{
	int ready[2], status;
	pid_t pid;
	char c;

	EXPECT(pipe(ready) == 0);
	pid = quiet_fork();
	EXPECT(pid >= 0);
	if (!pid) {
		int fd = make(path, 0);

		put(fd, GIB, MIB);
		c = 1;
		EXPECT(write(ready[1], &c, 1) == 1);
		pause();
		_exit(0);
	}
	EXPECT(read(ready[0], &c, 1) == 1);
	EXPECT(kill(pid, SIGKILL) == 0);
	EXPECT(waitpid(pid, &status, 0) == pid);
	close(ready[0]);
	close(ready[1]);
}

/* ---- without holes ---- */

static void out_of_order(void)
{
	int a = make(path, 0), b = make(path, 0);

	for (int i = 31; i >= 0; i--)
		put(i % 2 ? a : b, i * 64 * KIB, 64 * KIB);
	drop(a);
	drop(b);
}

static void filled_later(void)
{
	int fd = make(path, 0);

	EXPECT(pvfs_ftruncate(fd, 2 * MIB) == 0);
	drop(fd);
	fd = make(path, 0);
	put(fd, 0, MIB);
	put(fd, MIB, MIB);
	drop(fd);
}

static void list_without_gaps(void)
{
	static const int64_t off[] = { 64 * KIB, 0 };

	two_pieces(off);
}

/* ---- ---- */

static int64_t told(void)
{
	struct stat st;

	EXPECT(pvfs_stat(path, &st) == 0);
	return st.st_blocks;
}

/* Returns the number of blocks that the objects use. */
static int64_t taken(void)
{
	char pattern[600];
	int64_t sum = 0;
	struct stat st;
	glob_t found;

	EXPECT(pvfs_stat(path, &st) == 0);
	snprintf(pattern, sizeof(pattern), "%s/iod*/objects/*/*/%016jx", state,
		 (uintmax_t)st.st_ino);
	EXPECT(glob(pattern, 0, NULL, &found) == 0);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		EXPECT(stat(found.gl_pathv[i], &st) == 0);
		sum += st.st_blocks;
	}
	globfree(&found);
	return sum;
}

static const struct way {
	const char *name;
	void (*go)(void);
} ways[] = {
	{ "longer_then_written", longer_then_written },
	{ "behind_the_end", behind_the_end },
	{ "written_then_longer", written_then_longer },
	{ "cut_in_a_hole", cut_in_a_hole },
	{ "cut_open_then_behind", cut_open_then_behind },
	{ "appended_behind", appended_behind },
	{ "list_with_gaps", list_with_gaps },
	{ "partition", partition },
	{ "asynchronous", asynchronous },
	{ "more_than_it_has", more_than_it_has },
	{ "punched", punched },
	{ "copied", copied },
	{ "writer_died", writer_died },
	{ "out_of_order", out_of_order },
	{ "filled_later", filled_later },
	{ "list_without_gaps", list_without_gaps },
};

/* Checks twice: after the first stat, the manager may know more. */
static int run(const struct way *way, const char *dir)
{
	int bad = 0;

	snprintf(path, sizeof(path), "%s/%s", dir, way->name);
	snprintf(other, sizeof(other), "%s/source", dir);
	way->go();
	for (int i = 0; i < 2; i++) {
		int64_t have = told(), want = taken();

		if (have >= want - ROUND && have <= want + ROUND)
			continue;
		printf("%s: %jd blocks, its objects take %jd\n", way->name,
		       (intmax_t)have, (intmax_t)want);
		bad = 1;
	}
	return bad;
}

int main(int argc, char **argv)
{
	int bad = 0;

	EXPECT(argc == 3);
	state = argv[2];
	memset(data, 'x', sizeof(data));
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		bad |= run(&ways[i], argv[1]);
	if (!bad)
		puts("ok");
	return bad;
}
