/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pvfs-test - concurrent read and write bandwidth: the test program of PVFS and of the
 * ICPP 2003 paper (section 6.3).  In iteration j, rank r moves the block at offset j *
 * nprocs * blk + r * blk of each file, after a barrier.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/tools/admin/par.h"
#include <pvfs.h>
#include "client/tools/common/tool.h"
#include "common/util/clock.h"

struct test_args {
	uint64_t blksz, iters, files, ssize;
	const char *file;
	bool check, write_only, read_only, unlink, vfs;
};

struct test_run {
	struct test_args a;
	struct par par;
	char *buf;
	double *all; /* rank 0: a time for each rank */
	int *fds;
};

static int set_option(void *arg, int opt, const char *val)
{
	struct test_args *a = arg;

	switch (opt) {
	case 'b':
		a->blksz = tool_number(val);
		return 0;
	case 'i':
		a->iters = tool_number(val);
		return 0;
	case 'n':
		a->files = tool_number(val);
		return 0;
	case 's':
		a->ssize = tool_number(val);
		return 0;
	case 'f':
		a->file = val;
		return 0;
	case 'p':
		return setenv("PVFSTAB_FILE", val, 1);
	case 'c':
		a->check = true;
		return 0;
	case 'w':
		a->write_only = true;
		return 0;
	case 'r':
		a->read_only = true;
		return 0;
	case 'u':
		a->unlink = true;
		return 0;
	case 'v':
		a->vfs = true;
		return 0;
	default:
		return -1;
	}
}

static const struct tool_value values[] = {
	{ 'b', 1, 1ull << 40, NULL },
	{ 'i', 1, 1u << 20, NULL },
	{ 'n', 1, 1024, NULL },
	{ 's', 64, 1u << 30, NULL },
	{ 0 },
};

static const struct tool tool = {
	.name = "pvfs-test",
	.usage =
		"[-cruvw] [-b SIZE] [-i N] [-n FILES] [-f FILE] [-p PVFSTAB] [-s STRIPE]",
	.help = "Measures concurrent read and write bandwidth.  Alone, or under mpiexec -n N\n"
		"of MPICH (Debian: mpiexec.mpich).\n"
		"  -b SIZE                bytes a block (16M)\n"
		"  -i N                   iterations (1)\n"
		"  -n FILES               number of files (1)\n"
		"  -f FILE                file name; with -n > 1 a number is appended\n"
		"                         (/pvfs/pvfs-test.tmp)\n"
		"  -p PVFSTAB             pvfstab(5) to use\n"
		"  -s STRIPE              stripe size of the files (the file system's)\n"
		"  -c                     check that what is read is what was written\n"
		"  -w                     write only\n"
		"  -r                     read only (of files that exist)\n"
		"  -u                     unlink the files at the end\n"
		"  -v                     ordinary system calls instead of native ones\n",
	.shorts = "b:i:n:f:p:s:cwruv",
	.ordinary = "-v",
	.values = values,
	.option = set_option,
};

/* ---- native or ordinary calls ---- */

static int do_open(const struct test_run *r, const char *name, int flags)
{
	struct pvfs_filestat meta = { -1, -1, -1, 0, 0 };

	if (r->a.ssize)
		meta.ssize = (int32_t)r->a.ssize;
	if (r->a.vfs)
		return open(name, flags, 0644);
	if (!pvfs_is_pvfs(name))
		return pvfs_open(name, flags, 0644);
	return pvfs_open(name, flags | O_META, 0644, &meta);
}

static ssize_t do_pwrite(const struct test_run *r, int fd, const char *buf,
			 size_t len, int64_t off)
{
	return r->a.vfs ? pwrite(fd, buf, len, off)
			: pvfs_pwrite(fd, buf, len, off);
}

static ssize_t do_pread(const struct test_run *r, int fd, char *buf, size_t len,
			int64_t off)
{
	return r->a.vfs ? pread(fd, buf, len, off)
			: pvfs_pread(fd, buf, len, off);
}

/* ---- data: every 8 bytes encode the file, and the place in the file ---- */

static uint64_t word_at(uint64_t file, uint64_t off)
{
	return (off + 1) * 0x9e3779b97f4a7c15ull ^ (file + 1) << 56;
}

static void fill_block(const struct test_run *r, uint64_t file, uint64_t off)
{
	for (uint64_t i = 0; i < r->a.blksz; i += 8) {
		uint64_t w = word_at(file, off + i);
		size_t n = r->a.blksz - i < 8 ? r->a.blksz - i : 8;

		memcpy(r->buf + i, &w, n);
	}
}

static bool block_is_right(const struct test_run *r, uint64_t file,
			   uint64_t off)
{
	for (uint64_t i = 0; i < r->a.blksz; i += 8) {
		uint64_t w = word_at(file, off + i);
		size_t n = r->a.blksz - i < 8 ? r->a.blksz - i : 8;

		if (memcmp(r->buf + i, &w, n)) {
			tool_say(&tool,
				 "rank %d: file %llu differs at byte %llu",
				 r->par.rank, (unsigned long long)file,
				 (unsigned long long)(off + i));
			return false;
		}
	}
	return true;
}

/* ---- files ---- */

static const char *file_name(const struct test_run *r, uint64_t i, char *buf,
			     size_t len)
{
	if (r->a.files == 1)
		snprintf(buf, len, "%s", r->a.file);
	else
		snprintf(buf, len, "%s.%llu", r->a.file, (unsigned long long)i);
	return buf;
}

static int open_one(struct test_run *r, uint64_t i, int flags)
{
	char name[4200];

	r->fds[i] = do_open(r, file_name(r, i, name, sizeof(name)), flags);
	return r->fds[i] < 0 ? tool_fail(&tool, name) : 0;
}

static void close_all(struct test_run *r)
{
	for (uint64_t i = 0; i < r->a.files; i++) {
		if (r->fds[i] < 0)
			continue;
		if (r->a.vfs)
			close(r->fds[i]);
		else
			pvfs_close(r->fds[i]);
		r->fds[i] = -1;
	}
}

/* Rank 0 makes the files before the others open them. */
static int open_all(struct test_run *r)
{
	int flags = r->a.read_only ? O_RDONLY : O_RDWR | O_CREAT, status = 0;

	for (int turn = 0; turn < 2; turn++) {
		for (uint64_t i = 0; i < r->a.files; i++)
			if ((r->par.rank == 0) == (turn == 0))
				status |= open_one(r, i, flags);
		status = par_max(status);
		if (status)
			return status;
	}
	return 0;
}

static int unlink_all(struct test_run *r)
{
	char name[4200];
	int status = 0;

	for (uint64_t i = 0; i < r->a.files && r->par.rank == 0; i++) {
		file_name(r, i, name, sizeof(name));
		if (r->a.vfs ? unlink(name) : pvfs_unlink(name))
			status |= tool_fail(&tool, name);
	}
	return par_max(status);
}

/* ---- the measurement ---- */

static int move_block(struct test_run *r, uint64_t file, uint64_t off,
		      bool write)
{
	char name[4200];
	ssize_t n;

	n = write ? do_pwrite(r, r->fds[file], r->buf, r->a.blksz, (int64_t)off)
		  : do_pread(r, r->fds[file], r->buf, r->a.blksz, (int64_t)off);
	if (n == (ssize_t)r->a.blksz)
		return 0;
	file_name(r, file, name, sizeof(name));
	if (n < 0)
		return tool_fail(&tool, name);
	return tool_say(&tool, "%s: only %zd of %llu bytes at %llu", name, n,
			(unsigned long long)r->a.blksz,
			(unsigned long long)off);
}

/* Filling and checking the buffer is not part of the time. */
static int time_block(struct test_run *r, uint64_t file, uint64_t off,
		      bool write, double *secs, bool *good)
{
	uint64_t start;
	int status;

	if (write && r->a.check)
		fill_block(r, file, off);
	par_barrier();
	start = clock_now();
	status = move_block(r, file, off, write);
	*secs += (double)(clock_now() - start) / 1e9;
	if (!write && r->a.check && !status)
		*good = block_is_right(r, file, off) && *good;
	return status;
}

static int time_all_blocks(struct test_run *r, bool write, double *secs,
			   bool *good)
{
	uint64_t n = (uint64_t)r->par.size, rank = (uint64_t)r->par.rank;
	int status = 0;

	*secs = 0;
	for (uint64_t j = 0; j < r->a.iters; j++)
		for (uint64_t i = 0; i < r->a.files; i++)
			status |= time_block(r, i, (j * n + rank) * r->a.blksz,
					     write, secs, good);
	return par_max(status);
}

static void print_times(struct test_run *r, const char *what, double secs)
{
	double min = INFINITY, max = 0, sum = 0, var = 0, total;
	int n = r->par.size;

	par_gather(secs, r->all);
	if (r->par.rank)
		return;
	for (int i = 0; i < n; i++) {
		min = fmin(min, r->all[i]);
		max = fmax(max, r->all[i]);
		sum += r->all[i];
	}
	for (int i = 0; i < n; i++)
		var += (r->all[i] - sum / n) * (r->all[i] - sum / n);
	total = (double)r->a.blksz * (double)r->a.iters * (double)r->a.files *
		n;
	printf("%s:  min_t = %f, max_t = %f, mean_t = %f, var_t = %f\n", what,
	       min, max, sum / n, n > 1 ? var / (n - 1) : 0.0);
	printf("%s bandwidth = %f Mbytes/sec\n", what, total / (max * 1e6));
	fflush(stdout);
}

static void print_title(const struct test_run *r)
{
	if (r->par.rank)
		return;
	printf("# Using %s calls.\n", r->a.vfs ? "vfs" : "native pvfs");
	printf("nr_procs = %d, nr_iter = %llu, blk_sz = %llu, nr_files = %llu\n",
	       r->par.size, (unsigned long long)r->a.iters,
	       (unsigned long long)r->a.blksz, (unsigned long long)r->a.files);
	printf("# total_size = %llu\n",
	       (unsigned long long)(r->a.blksz * r->a.iters * r->a.files *
				    (uint64_t)r->par.size));
	fflush(stdout);
}

static int measure_all(struct test_run *r)
{
	bool good = true;
	double secs;
	int status = 0;

	if (!r->a.read_only) {
		status = time_all_blocks(r, true, &secs, &good);
		print_times(r, "Write", secs);
	}
	if (!r->a.write_only && !status) {
		memset(r->buf, 0, r->a.blksz);
		status = time_all_blocks(r, false, &secs, &good);
		print_times(r, "Read", secs);
	}
	if (!r->a.check || r->a.write_only)
		return status;
	good = !par_max(!good || status);
	if (r->par.rank == 0)
		printf("Correctness test %s.\n", good ? "passed" : "failed");
	return status | !good;
}

static int alloc_buffers(struct test_run *r)
{
	r->buf = malloc(r->a.blksz);
	r->all = calloc((size_t)r->par.size, sizeof(*r->all));
	r->fds = malloc(r->a.files * sizeof(*r->fds));
	for (uint64_t i = 0; r->fds && i < r->a.files; i++)
		r->fds[i] = -1;
	if (par_max(!r->buf || !r->all || !r->fds)) {
		errno = ENOMEM;
		return tool_fail(&tool, "buffers");
	}
	memset(r->buf, 0x5a, r->a.blksz);
	return 0;
}

/*
 * If the mpiexec of another MPI has started several processes, each of them is alone, and all
 * use the same files.
 */
static int check_launcher(const struct test_run *r)
{
	static const char *const sizes[] = { "OMPI_COMM_WORLD_SIZE",
					     "PMI_SIZE" };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		const char *n = secure_getenv(sizes[i]);

		if (r->par.size == 1 && n && strtoul(n, NULL, 10) > 1)
			return tool_say(&tool,
					"mpiexec started %s processes, but "
					"they do not reach each other: it is "
					"not MPICH's (mpiexec.mpich), or this "
					"program was built without MPI",
					n);
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct test_run r = { .a = { .blksz = 16u << 20,
				     .iters = 1,
				     .files = 1,
				     .file = "/pvfs/pvfs-test.tmp" } };
	int status;

	if (par_init(&r.par, &argc, &argv))
		return 1;
	if (tool_options(&tool, argc, argv, &r.a) != argc ||
	    (r.a.read_only && r.a.write_only))
		tool_usage(&tool);
	if (check_launcher(&r)) {
		par_finish();
		return 1;
	}
	/* otherwise the "native" calls would measure the local disk */
	status = par_max(!r.a.vfs && !r.par.rank &&
			 tool_need_path(&tool, (char *const *)&r.a.file, 1));
	if (!status)
		status = alloc_buffers(&r);
	if (!status) {
		print_title(&r);
		status = open_all(&r);
	}
	if (!status)
		status = measure_all(&r);
	if (r.fds)
		close_all(&r);
	par_barrier();
	if (r.a.unlink && !status)
		status = unlink_all(&r);
	free(r.fds);
	free(r.all);
	free(r.buf);
	par_finish();
	return tool_done(&tool, status);
}
