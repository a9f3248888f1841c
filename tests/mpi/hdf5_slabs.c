/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hdf5_slabs.c - parallel HDF5: each rank writes and reads hyperslabs of a contiguous and of a
 * chunked dataset, collectively or not, and checks every element of the others.
 *
 *   mpiexec.mpich -n 4 hdf5_slabs pvfs:/pvfs/file.h5
 */
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define ROWS_OF_RANK 32
#define COLUMNS 96

#define SURE(cond)                                                             \
	do {                                                                   \
		if (!(cond)) {                                                 \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__,       \
				__LINE__, #cond);                              \
			MPI_Abort(MPI_COMM_WORLD, 1);                          \
		}                                                              \
	} while (0)

static int rank, nranks;

static int value(hsize_t row, hsize_t column)
{
	return (int)(row * 1000003 + column * 7 + 1);
}

static hid_t access_list(void)
{
	hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);

	SURE(H5Pset_fapl_mpio(fapl, MPI_COMM_WORLD, MPI_INFO_NULL) >= 0);
	return fapl;
}

static hid_t transfer_list(int collective)
{
	hid_t dxpl = H5Pcreate(H5P_DATASET_XFER);

	SURE(H5Pset_dxpl_mpio(dxpl, collective ? H5FD_MPIO_COLLECTIVE
					       : H5FD_MPIO_INDEPENDENT) >= 0);
	return dxpl;
}

/* Every nranks-th row from `first` on: pieces of all ranks interleave. */
static hid_t select_rows(hid_t set, hsize_t first)
{
	hsize_t start[2] = { first, 0 }, stride[2] = { (hsize_t)nranks, 1 };
	hsize_t count[2] = { ROWS_OF_RANK, COLUMNS };
	hid_t space = H5Dget_space(set);

	SURE(H5Sselect_hyperslab(space, H5S_SELECT_SET, start, stride, count,
				 NULL) >= 0);
	return space;
}

static void move(hid_t set, int write, int collective, hsize_t first, int *data)
{
	hsize_t dims[2] = { ROWS_OF_RANK, COLUMNS };
	hid_t memory = H5Screate_simple(2, dims, NULL);
	hid_t space = select_rows(set, first), dxpl = transfer_list(collective);

	SURE((write ? H5Dwrite(set, H5T_NATIVE_INT, memory, space, dxpl, data)
		    : H5Dread(set, H5T_NATIVE_INT, memory, space, dxpl,
			      data)) >= 0);
	H5Pclose(dxpl);
	H5Sclose(space);
	H5Sclose(memory);
}

static hid_t create(hid_t file, const char *name, int chunked)
{
	hsize_t dims[2] = { (hsize_t)nranks * ROWS_OF_RANK, COLUMNS };
	hsize_t chunk[2] = { 24, 40 };
	hid_t space = H5Screate_simple(2, dims, NULL);
	hid_t dcpl = H5Pcreate(H5P_DATASET_CREATE), set;

	if (chunked)
		SURE(H5Pset_chunk(dcpl, 2, chunk) >= 0);
	set = H5Dcreate2(file, name, H5T_STD_I32LE, space, H5P_DEFAULT, dcpl,
			 H5P_DEFAULT);
	SURE(set >= 0);
	H5Pclose(dcpl);
	H5Sclose(space);
	return set;
}

static const char *name_of(int chunked, int collective)
{
	static const char *const name[2][2] = { { "plain", "plain-all" },
						{ "chunk", "chunk-all" } };

	return name[chunked][collective];
}

static void write_set(hid_t file, int chunked, int collective)
{
	int data[ROWS_OF_RANK][COLUMNS], i, j;
	hid_t set = create(file, name_of(chunked, collective), chunked);

	for (i = 0; i < ROWS_OF_RANK; i++)
		for (j = 0; j < COLUMNS; j++)
			data[i][j] = value((hsize_t)(i * nranks + rank),
					   (hsize_t)j);
	move(set, 1, collective, (hsize_t)rank, &data[0][0]);
	H5Dclose(set);
}

/* Reads and checks the rows that another rank wrote. */
static void read_set(hid_t file, int chunked, int collective)
{
	int data[ROWS_OF_RANK][COLUMNS], i, j, other = (rank + 1) % nranks;
	hid_t set = H5Dopen2(file, name_of(chunked, collective), H5P_DEFAULT);

	SURE(set >= 0);
	move(set, 0, collective, (hsize_t)other, &data[0][0]);
	for (i = 0; i < ROWS_OF_RANK; i++)
		for (j = 0; j < COLUMNS; j++)
			SURE(data[i][j] ==
			     value((hsize_t)(i * nranks + other), (hsize_t)j));
	H5Dclose(set);
}

static void each(hid_t file, void (*run)(hid_t file, int chunked, int all))
{
	for (int i = 0; i < 4; i++)
		run(file, i / 2, i % 2);
}

int main(int argc, char **argv)
{
	hid_t fapl, file;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &nranks);
	SURE(argc == 2);
	fapl = access_list();
	file = H5Fcreate(argv[1], H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
	SURE(file >= 0);
	each(file, write_set);
	SURE(H5Fclose(file) >= 0);
	file = H5Fopen(argv[1], H5F_ACC_RDONLY, fapl);
	SURE(file >= 0);
	each(file, read_set);
	SURE(H5Fclose(file) >= 0);
	H5Pclose(fapl);
	if (rank == 0)
		puts("ok");
	MPI_Finalize();
	return 0;
}
