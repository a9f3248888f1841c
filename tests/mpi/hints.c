/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hints.c - what a file's hints show: the striping that it has, whatever a
 * later open asks for, and how accesses in pieces go.
 *
 *   mpiexec -n 2 hints pvfs:/pvfs/file, on at least three iods
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void shows(MPI_File file, const char *key, const char *want)
{
	char have[MPI_MAX_INFO_VAL + 1] = "";
	MPI_Info info;
	int there;

	MPI_File_get_info(file, &info);
	MPI_Info_get(info, key, MPI_MAX_INFO_VAL, have, &there);
	if (!there || strcmp(have, want) != 0) {
		fprintf(stderr, "%s is '%s' instead of '%s'\n", key, have,
			want);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	MPI_Info_free(&info);
}

static MPI_File open_with(const char *name, const char *first, const char *list)
{
	MPI_Info info;
	MPI_File file;

	MPI_Info_create(&info);
	MPI_Info_set(info, "start_iodevice", first);
	MPI_Info_set(info, "striping_factor", "2");
	MPI_Info_set(info, "romio_pvfs_listio_read", list);
	if (MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR,
			  info, &file) != MPI_SUCCESS)
		MPI_Abort(MPI_COMM_WORLD, 1);
	MPI_Info_free(&info);
	return file;
}

static void set_later(MPI_File file)
{
	MPI_Info info;

	MPI_Info_create(&info);
	MPI_Info_set(info, "romio_pvfs_listio_write", "disable");
	MPI_File_set_info(file, info);
	MPI_Info_free(&info);
	shows(file, "romio_pvfs_listio_write", "disable");
}

int main(int argc, char **argv)
{
	MPI_File file;
	int rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (argc != 2)
		MPI_Abort(MPI_COMM_WORLD, 2);
	file = open_with(argv[1], "1", "disable");
	shows(file, "start_iodevice", "1");
	shows(file, "striping_factor", "2");
	shows(file, "romio_pvfs_listio_read", "disable");
	shows(file, "romio_pvfs_listio_write", "automatic");
	set_later(file);
	MPI_File_close(&file);
	/* the file is there: it keeps its first iod */
	file = open_with(argv[1], "0", "enable");
	shows(file, "start_iodevice", "1");
	shows(file, "romio_pvfs_listio_read", "enable");
	MPI_File_close(&file);
	if (!rank)
		puts("ok");
	MPI_Finalize();
	return 0;
}
