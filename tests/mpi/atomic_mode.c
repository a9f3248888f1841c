/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * atomic_mode.c - in atomic mode, many ranks read in pieces while others write the same pieces.
 * Each read gets the data of exactly one write, blocking or not.  The start of a nonblocking access
 * returns while the lock is held by another rank.
 *
 *   mpiexec.mpich -n 4 atomic_mode pvfs:/pvfs/file
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pvfs.h>

#define PIECES 20000 /* more than fit into one request */
#define ROUNDS 12

static void sure(int ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "not so: %s\n", what);
	MPI_Abort(MPI_COMM_WORLD, 1);
}

static void fill(int *buf, int value)
{
	for (int i = 0; i < PIECES; i++)
		buf[i] = value;
}

static void do_io(MPI_File file, int *buf, int write, int wait)
{
	MPI_Request request = MPI_REQUEST_NULL;
	int err;

	if (write)
		err = wait ? MPI_File_write_at(file, 0, buf, PIECES, MPI_INT,
					       MPI_STATUS_IGNORE)
			   : MPI_File_iwrite_at(file, 0, buf, PIECES, MPI_INT,
						&request);
	else
		err = wait ? MPI_File_read_at(file, 0, buf, PIECES, MPI_INT,
					      MPI_STATUS_IGNORE)
			   : MPI_File_iread_at(file, 0, buf, PIECES, MPI_INT,
					       &request);
	sure(err == MPI_SUCCESS, "an access succeeds");
	sure(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS, "it ends");
}

static MPI_File open_file(const char *name)
{
	MPI_Datatype every_third;
	MPI_File file;

	sure(MPI_File_open(MPI_COMM_WORLD, name,
			   MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
			   &file) == MPI_SUCCESS,
	     "the file opens");
	MPI_Type_vector(PIECES, 1, 3, MPI_INT, &every_third);
	MPI_Type_commit(&every_third);
	MPI_File_set_view(file, 0, MPI_INT, every_third, "native",
			  MPI_INFO_NULL);
	MPI_Type_free(&every_third);
	MPI_File_set_atomicity(file, 1);
	return file;
}

/* Starts two accesses of this rank while another open file holds the lock. */
static void beside(MPI_File file, const char *name)
{
	static int mine[2][PIECES];
	int fd = pvfs_open(strchr(name, ':') + 1, O_RDWR), done, i;
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	MPI_Request request[2];
	MPI_Status status[2];
	int which;

	sure(fd >= 0 && pvfs_fcntl(fd, F_OFD_SETLKW, &lock) == 0, "a lock");
	fill(mine[0], 1000);
	fill(mine[1], -1);
	MPI_File_iwrite_at(file, 0, mine[0], PIECES, MPI_INT, &request[0]);
	MPI_File_iread_at(file, 0, mine[1], PIECES, MPI_INT, &request[1]);
	for (i = 0; i < 1000; i++) {
		MPI_Testany(2, request, &which, &done, status);
		sure(!done, "an access waits for its lock");
	}
	lock.l_type = F_UNLCK;
	sure(pvfs_fcntl(fd, F_OFD_SETLK, &lock) == 0, "the lock ends");
	sure(MPI_Waitall(2, request, status) == MPI_SUCCESS, "both end");
	for (i = 1; i < PIECES; i++)
		sure(mine[1][i] == mine[1][0], "all of the write or nothing");
	pvfs_close(fd);
}

int main(int argc, char **argv)
{
	static int buf[PIECES];
	int rank, ranks;
	MPI_File file;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	sure(argc == 2, "usage: atomic_mode FILE");
	file = open_file(argv[1]);
	fill(buf, 0);
	if (rank == 0)
		do_io(file, buf, 1, 1);
	MPI_Barrier(MPI_COMM_WORLD);

	for (int round = 0; round < ROUNDS; round++) {
		if (rank < ranks / 2) {
			fill(buf, round * ranks + rank);
			do_io(file, buf, 1, round % 2);
			continue;
		}
		fill(buf, -1);
		do_io(file, buf, 0, round % 2);
		for (int i = 1; i < PIECES; i++)
			sure(buf[i] == buf[0], "a read sees one write");
	}
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0)
		beside(file, argv[1]);
	sure(MPI_File_close(&file) == MPI_SUCCESS, "the file closes");
	if (rank == 0)
		puts("ok");
	MPI_Finalize();
	return 0;
}
