/* SPDX-License-Identifier: BSD-2-Clause */
/* mpi_meta.c - measures collective creates and set_size. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/mpi/mpi_bench.h"

enum { CREATE, SET_SIZE, CLOSE, OPEN, TIMES };
static const char *const names[TIMES] = { "create", "set_size", "close",
					  "open" };

static double since(double start)
{
	return slowest(MPI_Wtime() - start);
}

static double begin(void)
{
	barrier();
	return MPI_Wtime();
}

static double open_timed(const struct options *o, const char *name, int mode,
			 MPI_File *file)
{
	MPI_Info info = hints(o);
	double start = begin();

	sure(MPI_File_open(MPI_COMM_WORLD, name, mode | MPI_MODE_RDWR, info,
			   file),
	     name);
	start = since(start);
	MPI_Info_free(&info);
	return start;
}

static double set_size(MPI_File file, MPI_Offset size)
{
	double start = begin();
	MPI_Offset is;

	sure(MPI_File_set_size(file, size), "MPI_File_set_size");
	start = since(start);
	sure(MPI_File_get_size(file, &is), "MPI_File_get_size");
	if (is != size)
		die("a file of %lld bytes instead of %lld", (long long)is,
		    (long long)size);
	return start;
}

static double close_timed(MPI_File *file)
{
	double start = begin();

	sure(MPI_File_close(file), "MPI_File_close");
	return since(start);
}

static void one_file(const struct options *o, int i, double *times[TIMES])
{
	char name[4096];
	MPI_File file;

	snprintf(name, sizeof(name), "%s.%d", o->file, i);
	times[CREATE][i] = open_timed(o, name, MPI_MODE_CREATE | MPI_MODE_EXCL,
				      &file);
	times[SET_SIZE][i] = set_size(file, (MPI_Offset)(i + 1) << 20);
	times[CLOSE][i] = close_timed(&file);
	times[OPEN][i] = open_timed(o, name, 0, &file);
	close_timed(&file);
	if (!o->rank)
		sure(MPI_File_delete(name, MPI_INFO_NULL), "MPI_File_delete");
}

void meta_run(const struct options *o, struct json_object *out)
{
	double *times[TIMES];
	int i;

	for (i = 0; i < TIMES; i++)
		times[i] = memory((size_t)o->files * sizeof(double));
	for (i = 0; i < o->files; i++)
		one_file(o, i, times);
	for (i = 0; i < TIMES; i++) {
		json_object_object_add(out, names[i],
				       json_object_new_double(
					       median(times[i], o->files) *
					       1e6));
		free(times[i]);
	}
	json_object_object_add(out, "unit", json_object_new_string("us"));
}
