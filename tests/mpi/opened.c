/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * opened.c - open() sees the data that MPI-IO wrote, while the MPI file is open and after it is
 * closed, and the reverse.
 *
 *   mpiexec.mpich -n 3 opened pvfs:/pvfs/f /mnt/f
 *
 * The second name is the same file through a mount.
 */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* bytes that a rank writes in a round; not a multiple of a page */
#define PIECE 50000
#define ROUNDS 6

#define SURE(cond)                                                             \
	do {                                                                   \
		if (!(cond)) {                                                 \
			fprintf(stderr, "%s:%d: rank %d: not so: %s\n",        \
				__FILE__, __LINE__, rank, #cond);              \
			MPI_Abort(MPI_COMM_WORLD, 1);                          \
		}                                                              \
	} while (0)

static int rank, ranks;

static char byte(off_t at, int salt)
{
	return (char)(at % 251 + at / PIECE + salt);
}

static void fill(char *data, off_t at, int salt)
{
	for (off_t i = 0; i < PIECE; i++)
		data[i] = byte(at + i, salt);
}

static int is_filled(const char *data, off_t at, off_t n, int salt)
{
	for (off_t i = 0; i < n; i++)
		if (data[i] != byte(at + i, salt))
			return 0;
	return 1;
}

static MPI_File open_mpi(const char *name, int mode)
{
	MPI_File file;

	SURE(MPI_File_open(MPI_COMM_WORLD, name, mode, MPI_INFO_NULL, &file) ==
	     MPI_SUCCESS);
	return file;
}

/* Writes collectively: the pieces of the ranks alternate in the file. */
static void write_mpi(MPI_File file, int salt)
{
	static char data[PIECE];

	for (int k = 0; k < ROUNDS; k++) {
		MPI_Offset at = (MPI_Offset)(k * ranks + rank) * PIECE;

		fill(data, at, salt);
		SURE(MPI_File_write_at_all(file, at, data, PIECE, MPI_CHAR,
					   MPI_STATUS_IGNORE) == MPI_SUCCESS);
	}
	MPI_Barrier(MPI_COMM_WORLD);
}

static void read_mpi(MPI_File file, int salt)
{
	static char data[PIECE];

	for (int k = 0; k < ROUNDS; k++) {
		MPI_Offset at = (MPI_Offset)(k * ranks + rank) * PIECE;

		SURE(MPI_File_read_at(file, at, data, PIECE, MPI_CHAR,
				      MPI_STATUS_IGNORE) == MPI_SUCCESS);
		SURE(is_filled(data, at, PIECE, salt));
	}
}

/* Reads the whole file by read() and through a mapping, and checks it. */
static void read_mounted(const char *path, int salt)
{
	static char data[PIECE + 1];
	struct stat st;
	off_t at = 0;
	ssize_t n;
	char *map;
	int fd = open(path, O_RDONLY);

	SURE(fd >= 0 && fstat(fd, &st) == 0);
	SURE(st.st_size == (off_t)ranks * ROUNDS * PIECE);
	while ((n = read(fd, data, sizeof(data))) > 0) {
		SURE(is_filled(data, at, n, salt));
		at += n;
	}
	SURE(n == 0 && at == st.st_size);
	map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	SURE(map != MAP_FAILED && is_filled(map, 0, st.st_size, salt));
	munmap(map, (size_t)st.st_size);
	close(fd);
}

static void write_mounted(const char *path, int salt)
{
	static char data[PIECE];
	int fd = open(path, O_WRONLY);

	SURE(fd >= 0);
	for (int k = 0; k < ROUNDS; k++) {
		off_t at = (off_t)(k * ranks + rank) * PIECE;

		fill(data, at, salt);
		SURE(pwrite(fd, data, PIECE, at) == PIECE);
	}
	SURE(close(fd) == 0);
	MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
	MPI_File file;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	SURE(argc == 3);
	file = open_mpi(argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR);
	write_mpi(file, 1);
	read_mounted(argv[2], 1);
	MPI_Barrier(MPI_COMM_WORLD);
	write_mounted(argv[2], 2);
	read_mpi(file, 2);
	MPI_Barrier(MPI_COMM_WORLD);
	write_mpi(file, 3);
	MPI_File_close(&file);
	read_mounted(argv[2], 3);
	MPI_Barrier(MPI_COMM_WORLD);
	write_mounted(argv[2], 4);
	file = open_mpi(argv[1], MPI_MODE_RDONLY);
	read_mpi(file, 4);
	MPI_File_close(&file);
	if (rank == 0)
		puts("ok");
	MPI_Finalize();
	return 0;
}
