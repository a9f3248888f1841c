/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * colon.c - deletes files whose names contain a colon: by name, and on close.
 *
 *   colon pvfs:/pvfs/run:1
 *
 * The file "1" in the working directory must not be deleted.
 */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define SURE(cond)                                                             \
	do {                                                                   \
		if (!(cond)) {                                                 \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__,       \
				__LINE__, #cond);                              \
			MPI_Abort(MPI_COMM_WORLD, 1);                          \
		}                                                              \
	} while (0)

static int open_file(const char *name, int mode)
{
	MPI_File file;
	int rc = MPI_File_open(MPI_COMM_SELF, name, mode, MPI_INFO_NULL, &file);

	return rc == MPI_SUCCESS ? MPI_File_close(&file) : rc;
}

int main(int argc, char **argv)
{
	const int make = MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR;

	MPI_Init(&argc, &argv);
	SURE(argc == 2);
	SURE(open_file(argv[1], make) == MPI_SUCCESS);
	SURE(MPI_File_delete(argv[1], MPI_INFO_NULL) == MPI_SUCCESS);
	SURE(access("1", F_OK) == 0);
	SURE(MPI_File_delete(argv[1], MPI_INFO_NULL) != MPI_SUCCESS);
	SURE(open_file(argv[1], make | MPI_MODE_DELETE_ON_CLOSE) ==
	     MPI_SUCCESS);
	SURE(open_file(argv[1], MPI_MODE_RDONLY) != MPI_SUCCESS);
	SURE(access("1", F_OK) == 0);
	puts("ok");
	MPI_Finalize();
	return 0;
}
