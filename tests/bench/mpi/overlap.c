/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * overlap.c - measures which part of a nonblocking access overlaps with computation of its rank.
 *
 *   mpiexec.mpich -n 1 overlap FILE BYTES [ROUNDS]
 *
 * An access alone takes the time A.  A computation alone takes C, and its length is chosen so that
 * C = A.  Both together take B: the access begins before the computation, and the rank waits for it
 * afterwards.  The result is (A + C - B) / A: 1 if they overlap completely (B = C), and 0 if not at
 * all (B = A + C).  The program prints the medians over the rounds (21) for iwrite and iread.
 * After each, it prints the processor time that the process uses for the access meanwhile, as a
 * share of A.  If the rank has only one processor, at most the rest can overlap.
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static MPI_File file;
static char *buf;
static int len;
static volatile double sink;

static void begin(bool write, MPI_Request *request)
{
	if (write)
		MPI_File_iwrite_at(file, 0, buf, len, MPI_BYTE, request);
	else
		MPI_File_iread_at(file, 0, buf, len, MPI_BYTE, request);
}

/* Computes for a number of steps, without a call. */
static double compute(long steps)
{
	double since = MPI_Wtime(), x = 1;
	long i;

	for (i = 0; i < steps; i++)
		x = x * 1.0000001 + 1e-9;
	sink = x;
	return MPI_Wtime() - since;
}

static double alone(bool write)
{
	double since = MPI_Wtime();
	MPI_Request request;

	begin(write, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	return MPI_Wtime() - since;
}

static double both(bool write, long steps)
{
	double since = MPI_Wtime();
	MPI_Request request;

	begin(write, &request);
	compute(steps);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	return MPI_Wtime() - since;
}

static double own_time(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* The result of a round. */
struct found {
	double overlap, own;
};

static struct found one(bool write)
{
	double a = alone(write), c = compute(1000000), own, b;
	long steps = (long)(1e6 * a / c);

	c = compute(steps);
	own = own_time();
	b = both(write, steps);
	own = own_time() - own - c;
	return (struct found){ (a + c - b) / a, own / a };
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median(double *all, int n)
{
	qsort(all, (size_t)n, sizeof(*all), compare);
	return all[n / 2];
}

static void measure(const char *name, bool write, int rounds)
{
	double *overlap = calloc(2 * (size_t)rounds, sizeof(*overlap));
	double *own = overlap + rounds;
	struct found f;
	int i;

	alone(write);
	for (i = 0; i < rounds; i++) {
		f = one(write);
		overlap[i] = f.overlap;
		own[i] = f.own;
	}
	printf("%s %.2f, own %.2f\n", name, median(overlap, rounds),
	       median(own, rounds));
	free(overlap);
}

int main(int argc, char **argv)
{
	int rounds;

	MPI_Init(&argc, &argv);
	if (argc < 3)
		MPI_Abort(MPI_COMM_WORLD, 2);
	len = atoi(argv[2]);
	rounds = argc > 3 ? atoi(argv[3]) : 21;
	buf = malloc((size_t)len);
	memset(buf, 1, (size_t)len);
	if (MPI_File_open(MPI_COMM_WORLD, argv[1],
			  MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_INFO_NULL,
			  &file))
		MPI_Abort(MPI_COMM_WORLD, 1);
	measure("iwrite", true, rounds);
	measure("iread", false, rounds);
	MPI_File_close(&file);
	free(buf);
	MPI_Finalize();
	return 0;
}
