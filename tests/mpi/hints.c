/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * hints.c - the hints that a file shows are its real striping, whatever a later open requests.  The
 * hints also decide how accesses in pieces are made, which the counters of libpvfs confirm.
 *
 *   mpiexec.mpich -n 2 hints pvfs:/pvfs/file
 *
 * The file system needs at least three iods.
 */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pvfs.h>

#define IODS 2 /* number of iods of the file */
#define PIECES 50
#define PIECE 100

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
	/* has no effect: the file exists */
	MPI_Info_set(info, "striping_unit", "7");
	MPI_File_set_info(file, info);
	MPI_Info_free(&info);
	shows(file, "striping_unit", "65536");
	shows(file, "romio_pvfs_listio_write", "disable");
}

/* ---- how accesses are made ---- */

/* Returns the counters of this process so far. libpvfs has one session for all files. */
static struct pvfs_list_counters counters(const char *name)
{
	struct pvfs_list_counters c;
	int fd = pvfs_open(strchr(name, ':') + 1, O_RDONLY);

	if (fd < 0 || pvfs_list_counters(fd, &c) != 0)
		MPI_Abort(MPI_COMM_WORLD, 1);
	pvfs_close(fd);
	return c;
}

static uint64_t requests(const char *name)
{
	return counters(name).requests;
}

/* Checks whether a write and a read of pieces are made as list I/O. */
static void moves(const char *name, MPI_File file, int list_write,
		  int list_read)
{
	static char out[PIECES * PIECE], in[PIECES * PIECE];
	uint64_t before = requests(name), between, after;
	int i;

	for (i = 0; i < PIECES * PIECE; i++)
		out[i] = (char)(i * 7 + list_write);
	MPI_File_write_at(file, 0, out, PIECES * PIECE, MPI_BYTE,
			  MPI_STATUS_IGNORE);
	between = requests(name);
	MPI_File_read_at(file, 0, in, PIECES * PIECE, MPI_BYTE,
			 MPI_STATUS_IGNORE);
	after = requests(name);
	if ((between > before) == list_write &&
	    (after > between) == list_read && !memcmp(in, out, sizeof(in)))
		return;
	fprintf(stderr, "%d list requests to write, %d to read\n",
		(int)(between - before), (int)(after - between));
	MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Sets a view with pieces of this rank. */
static void pieces_of(MPI_File file, int rank)
{
	MPI_Datatype view;

	MPI_Type_vector(PIECES, PIECE, 3 * PIECE, MPI_BYTE, &view);
	MPI_Type_commit(&view);
	MPI_File_set_view(file, (MPI_Offset)rank * PIECES * PIECE * 3, MPI_BYTE,
			  view, "native", MPI_INFO_NULL);
	MPI_Type_free(&view);
}

/* ---- memory ---- */

#define LARGE 65536 /* bytes of a piece */
#define APART 81920

/* Returns a type in memory of which nothing says that it is part of one array. */
static MPI_Datatype scattered(void)
{
	MPI_Datatype type;
	MPI_Aint at[PIECES];

	for (int i = 0; i < PIECES; i++)
		at[i] = (MPI_Aint)i * APART;
	MPI_Type_create_hindexed_block(PIECES, LARGE, at, MPI_BYTE, &type);
	return type;
}

/* Returns a type that is a tile of an array in memory (ICPP 2003, figure 14). */
static MPI_Datatype tile(void)
{
	const int all[] = { PIECES, APART }, some[] = { PIECES, LARGE };
	const int from[] = { 0, APART - LARGE };
	MPI_Datatype type;

	MPI_Type_create_subarray(2, all, some, from, MPI_ORDER_C, MPI_BYTE,
				 &type);
	return type;
}

static void at_most(const char *name, uint64_t before, uint64_t most)
{
	uint64_t made = counters(name).registrations - before;

	if (made <= most)
		return;
	fprintf(stderr, "%d registrations in a call\n", (int)made);
	MPI_Abort(MPI_COMM_WORLD, 1);
}

/*
 * Checks that many pieces of one allocation are registered together: a call makes at most as many
 * registrations as the file has iods.  Otherwise it would make 50.
 */
static void registers_once(const char *name, MPI_File file, MPI_Datatype type)
{
	char *buf = calloc(PIECES, APART);
	uint64_t before = counters(name).registrations;

	MPI_Type_commit(&type);
	MPI_File_write_at(file, 0, buf, 1, type, MPI_STATUS_IGNORE);
	at_most(name, before, IODS);
	before = counters(name).registrations;
	MPI_File_read_at(file, 0, buf, 1, type, MPI_STATUS_IGNORE);
	at_most(name, before, IODS);
	MPI_Type_free(&type);
	free(buf);
}

/* ---- the striping of new files ---- */

/*
 * Checks the striping of a new file.  A hint that is not a number, or does not fit, is ignored, and
 * the file has the default.
 */
static void has_striping(const char *name, const char *factor, const char *unit,
			 int want_factor, const char *want_unit)
{
	char file_name[4096], text[16];
	MPI_Info info;
	MPI_File file;

	snprintf(file_name, sizeof(file_name), "%s.%s.%s", name, factor, unit);
	snprintf(text, sizeof(text), "%d",
		 want_factor
			 ? want_factor
			 : pvfs_servers(strchr(name, ':') + 1, NULL, 0) - 1);
	MPI_Info_create(&info);
	MPI_Info_set(info, "striping_factor", factor);
	MPI_Info_set(info, "striping_unit", unit);
	if (MPI_File_open(MPI_COMM_WORLD, file_name,
			  MPI_MODE_CREATE | MPI_MODE_RDWR, info,
			  &file) != MPI_SUCCESS)
		MPI_Abort(MPI_COMM_WORLD, 1);
	shows(file, "striping_factor", text);
	shows(file, "striping_unit", want_unit);
	MPI_File_close(&file);
	MPI_Info_free(&info);
}

/*
 * Checks that impossible sizes are ignored.  ROMIO would divide by the first size, and loop forever
 * with the second.
 */
static void ignores_sizes(const char *name, const char *size, int rank)
{
	static char out[PIECES * PIECE], in[PIECES * PIECE];
	MPI_Info info;
	MPI_File file;

	MPI_Info_create(&info);
	MPI_Info_set(info, "cb_buffer_size", size);
	MPI_Info_set(info, "ind_rd_buffer_size", size);
	MPI_Info_set(info, "ind_wr_buffer_size", size);
	MPI_Info_set(info, "romio_pvfs_listio_read", "disable");
	MPI_Info_set(info, "romio_ds_read", "enable");
	if (MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR, info, &file) !=
	    MPI_SUCCESS)
		MPI_Abort(MPI_COMM_WORLD, 1);
	shows(file, "cb_buffer_size", "16777216");
	pieces_of(file, rank);
	memset(out, rank + 1, sizeof(out));
	MPI_File_write_at_all(file, 0, out, sizeof(out), MPI_BYTE,
			      MPI_STATUS_IGNORE);
	MPI_File_read_at(file, 0, in, sizeof(in), MPI_BYTE, MPI_STATUS_IGNORE);
	if (memcmp(in, out, sizeof(in)) != 0)
		MPI_Abort(MPI_COMM_WORLD, 1);
	MPI_File_close(&file);
	MPI_Info_free(&info);
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
	pieces_of(file, rank);
	moves(argv[1], file, 1, 0);
	set_later(file);
	moves(argv[1], file, 0, 0);
	MPI_File_close(&file);
	/* the file exists, so its first iod does not change */
	file = open_with(argv[1], "0", "enable");
	shows(file, "start_iodevice", "1");
	shows(file, "romio_pvfs_listio_read", "enable");
	pieces_of(file, rank);
	moves(argv[1], file, 1, 1);
	registers_once(argv[1], file, scattered());
	registers_once(argv[1], file, tile());
	MPI_File_close(&file);
	has_striping(argv[1], "0", "0", 0, "65536");
	has_striping(argv[1], "1", "4096", 1, "4096");
	has_striping(argv[1], "2", "128k", 2, "131072");
	has_striping(argv[1], "4294967298", "128kb", 0, "65536");
	has_striping(argv[1], "2 iods", "2097152k", 0, "65536");
	ignores_sizes(argv[1], "0", rank);
	ignores_sizes(argv[1], "-1", rank);
	if (!rank)
		puts("ok");
	MPI_Finalize();
	return 0;
}
