/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mpi_pointer.c - all ranks write and read, one after the other, at a shared position.  The
 * position is the file's shared pointer, or a number in another file that each rank locks, reads,
 * writes and unlocks.  ROMIO stores its pointer in the second way if a file system has no counters.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pvfs.h>

#include "tests/bench/mpi/mpi_bench.h"

enum { COUNTER, LOCK, WAYS };
static const char *const way_names[WAYS] = { "counter", "lock" };

struct pointer {
	const struct options *o;
	MPI_File file;
	int fd; /* descriptor of the file with the number */
	double seconds[WAYS][2][ROUNDS_MAX];
};

static void lock(int fd, short type)
{
	struct flock lk = { .l_type = type, .l_whence = SEEK_SET, .l_len = 8 };

	if (pvfs_fcntl(fd, F_SETLKW, &lk))
		die("lock: %s", strerror(errno));
}

static int64_t next_place(const struct pointer *p)
{
	int64_t at = 0, next;

	lock(p->fd, F_WRLCK);
	if (pvfs_pread(p->fd, &at, sizeof(at), 0) < 0)
		die("place: %s", strerror(errno));
	next = at + 1;
	if (pvfs_pwrite(p->fd, &next, sizeof(next), 0) != sizeof(next))
		die("place: %s", strerror(errno));
	lock(p->fd, F_UNLCK);
	return at;
}

static void access_one(const struct pointer *p, int way, bool write, int *value)
{
	MPI_Status st;
	int code, n;

	if (way == COUNTER)
		code = write ? MPI_File_write_shared(p->file, value, 1, MPI_INT,
						     &st)
			     : MPI_File_read_shared(p->file, value, 1, MPI_INT,
						    &st);
	else
		code = write ? MPI_File_write_at(p->file, next_place(p), value,
						 1, MPI_INT, &st)
			     : MPI_File_read_at(p->file, next_place(p), value,
						1, MPI_INT, &st);
	sure(code, way_names[way]);
	MPI_Get_count(&st, MPI_INT, &n);
	if (n != 1)
		die("%s: no number", way_names[way]);
}

/* Checks that all ranks together have read each number once. */
static void check(const struct pointer *p, long long sum)
{
	long long n = (long long)p->o->ranks * p->o->steps, all;

	sure(MPI_Allreduce(&sum, &all, 1, MPI_LONG_LONG, MPI_SUM,
			   MPI_COMM_WORLD),
	     "MPI_Allreduce");
	if (all != n * (n - 1) / 2)
		die("other numbers than were written");
}

static double timed(const struct pointer *p, int way, bool write)
{
	long long sum = 0;
	double start;
	int i, value;

	barrier();
	start = MPI_Wtime();
	for (i = 0; i < p->o->steps; i++) {
		value = i * p->o->ranks + p->o->rank;
		access_one(p, way, write, &value);
		sum += value;
	}
	start = slowest(MPI_Wtime() - start);
	check(p, sum);
	return start;
}

/* Sets the position to 0. */
static void back(const struct pointer *p)
{
	const int64_t first = 0;

	sure(MPI_File_seek_shared(p->file, 0, MPI_SEEK_SET),
	     "MPI_File_seek_shared");
	if (!p->o->rank &&
	    pvfs_pwrite(p->fd, &first, sizeof(first), 0) != sizeof(first))
		die("place: %s", strerror(errno));
	barrier();
}

static void one_round(struct pointer *p, int round)
{
	for (int way = 0; way < WAYS; way++)
		for (int write = 1; write >= 0; write--) {
			back(p);
			p->seconds[way][write][round] = timed(p, way,
							      (bool)write);
		}
}

static void open_both(struct pointer *p)
{
	const char *colon = strchr(p->o->file, ':');
	char name[4096];

	sure(MPI_File_open(MPI_COMM_WORLD, p->o->file,
			   MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
			   &p->file),
	     p->o->file);
	sure(MPI_File_set_view(p->file, 0, MPI_INT, MPI_INT, "native",
			       MPI_INFO_NULL),
	     "MPI_File_set_view");
	snprintf(name, sizeof(name), "%s.lock", colon ? colon + 1 : p->o->file);
	p->fd = pvfs_open(name, O_CREAT | O_RDWR, 0666);
	if (p->fd < 0)
		die("%s: %s", name, strerror(errno));
}

static struct json_object *rates(const struct pointer *p, int write)
{
	struct json_object *side = json_object_new_object(), *one;
	double n = (double)p->o->ranks * p->o->steps;

	for (int way = 0; way < WAYS; way++) {
		one = json_object_new_object();
		json_object_object_add(one, "per_s",
				       json_object_new_double(
					       n /
					       median(p->seconds[way][write],
						      p->o->rounds)));
		json_object_object_add(side, way_names[way], one);
	}
	return side;
}

void pointer_run(const struct options *o, struct json_object *out)
{
	struct pointer *p = memory(sizeof(*p));

	p->o = o;
	open_both(p);
	for (int round = 0; round < o->rounds; round++)
		one_round(p, round);
	json_object_object_add(out, "write", rates(p, 1));
	json_object_object_add(out, "read", rates(p, 0));
	pvfs_close(p->fd);
	sure(MPI_File_close(&p->file), "MPI_File_close");
	free(p);
}
