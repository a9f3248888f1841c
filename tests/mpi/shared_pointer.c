/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shared_pointer.c - checks the records that many ranks write and read by one shared file pointer.
 *
 *   mpiexec.mpich -n 4 shared_pointer FILE [RECORDS]
 *
 * Prints the number of accesses per second of all ranks together.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define RECORDS 500 /* default number of records of each rank */

static int rank, ranks, records;

static void sure(int ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "rank %d: not so: %s\n", rank, what);
	MPI_Abort(MPI_COMM_WORLD, 1);
}

static MPI_File open_file(const char *name, int mode)
{
	MPI_File file;

	sure(MPI_File_open(MPI_COMM_WORLD, name, mode, MPI_INFO_NULL, &file) ==
		     MPI_SUCCESS,
	     "the file opens");
	MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
	return file;
}

static void rate(const char *what, double seconds)
{
	double slowest;

	MPI_Reduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0,
		   MPI_COMM_WORLD);
	if (rank == 0)
		printf("%s: %.0f/s\n", what, ranks * records / slowest);
}

/* Checks that the records in the file are each number exactly once. */
static void each_once(MPI_File file)
{
	int n = ranks * records, *all = calloc((size_t)n, sizeof(*all));
	char *seen = calloc((size_t)n, 1);
	MPI_Offset size;

	sure(all && seen, "memory");
	MPI_File_get_size(file, &size);
	sure(size == (MPI_Offset)sizeof(*all) * n, "as long as its records");
	MPI_File_read_at(file, 0, all, n, MPI_INT, MPI_STATUS_IGNORE);
	for (int i = 0; i < n; i++) {
		sure(all[i] >= 0 && all[i] < n, "a record is whole");
		sure(!seen[all[i]]++, "a record is there once");
	}
	free(seen);
	free(all);
}

static void independent(const char *name)
{
	MPI_File file = open_file(name, MPI_MODE_CREATE | MPI_MODE_RDWR);
	double begin;
	int value;

	MPI_Barrier(MPI_COMM_WORLD);
	begin = MPI_Wtime();
	for (int i = 0; i < records; i++) {
		value = i * ranks + rank;
		sure(MPI_File_write_shared(file, &value, 1, MPI_INT,
					   MPI_STATUS_IGNORE) == MPI_SUCCESS,
		     "a record is written");
	}
	rate("written", MPI_Wtime() - begin);
	MPI_Barrier(MPI_COMM_WORLD);
	each_once(file);
	sure(MPI_File_close(&file) == MPI_SUCCESS, "the file closes");
}

/* Reads with a file that is open only for reading: its pointer moves as well. */
static void reading(const char *name)
{
	MPI_File file = open_file(name, MPI_MODE_RDONLY);
	long long sum = 0, total, n = (long long)ranks * records;
	double begin;
	int value;

	MPI_Barrier(MPI_COMM_WORLD);
	begin = MPI_Wtime();
	for (int i = 0; i < records; i++) {
		sure(MPI_File_read_shared(file, &value, 1, MPI_INT,
					  MPI_STATUS_IGNORE) == MPI_SUCCESS,
		     "a record is read");
		sum += value;
	}
	rate("read", MPI_Wtime() - begin);
	MPI_Allreduce(&sum, &total, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
	sure(total == n * (n - 1) / 2, "each record is read once");
	sure(MPI_File_close(&file) == MPI_SUCCESS, "the file closes");
}

/* Ordered accesses: rank n writes and reads n + 1 records. */
static void ordered(const char *name)
{
	MPI_File file = open_file(name, MPI_MODE_RDWR);
	int *mine = calloc((size_t)ranks, sizeof(*mine));
	MPI_Offset at, turn = (MPI_Offset)ranks * (ranks + 1) / 2;

	sure(mine != NULL, "memory");
	MPI_File_seek_shared(file, 10, MPI_SEEK_SET);
	for (int round = 0; round < 5; round++) {
		for (int i = 0; i <= rank; i++)
			mine[i] = 1000 * round + 10 * rank + i;
		MPI_File_write_ordered(file, mine, rank + 1, MPI_INT,
				       MPI_STATUS_IGNORE);
	}
	MPI_File_get_position_shared(file, &at);
	sure(at == 10 + 5 * turn, "the pointer is after the written data");
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_File_seek_shared(file, 10, MPI_SEEK_SET);
	for (int round = 0; round < 5; round++) {
		MPI_File_read_ordered(file, mine, rank + 1, MPI_INT,
				      MPI_STATUS_IGNORE);
		for (int i = 0; i <= rank; i++)
			sure(mine[i] == 1000 * round + 10 * rank + i,
			     "records are in the order of the ranks");
	}
	free(mine);
	sure(MPI_File_close(&file) == MPI_SUCCESS, "the file closes");
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	sure(argc >= 2, "usage: shared_pointer FILE [RECORDS]");
	records = argc > 2 ? atoi(argv[2]) : RECORDS;
	independent(argv[1]);
	reading(argv[1]);
	ordered(argv[1]);
	if (rank == 0)
		puts("ok");
	MPI_Finalize();
	return 0;
}
