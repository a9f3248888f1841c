/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * types.c - random nested data types, in memory and as views, in all ways in which MPI-IO moves
 * data.  File and memory must match the definition of the types byte for byte, and nothing else may
 * change.
 *
 *   mpiexec.mpich -n 3 types SEED ROUNDS FILE...
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/mpi/random_memory.h"

#define PART 65536 /* bytes of the file for one rank in one round */
#define ROUNDS_MAX 4000
#define VIEW_SPAN 4096
#define WAYS 9
#define KINDS 4 /* kinds of hints */

static int rank, ranks;

/* One access of one rank. */
struct round {
	struct rnd all, own; /* `all` draws the same numbers on all ranks */
	int number, seed;
	MPI_File file, raw;
	bool interleaved, absolute, by_element;
	int len, unit; /* bytes and extent of the view's elements */
	struct rtype *element, *view;
	/* where the round begins, and where the view begins */
	MPI_Offset base, disp;
	int skip; /* offset of the access in the view, in etypes */
	char *image; /* this rank's copy of the file's contents from base on */
};

static void fail(const struct round *t, const char *what, int way)
{
	fprintf(stderr, "seed %d round %d rank %d way %d: %s\n", t->seed,
		t->number, rank, way, what);
	MPI_Abort(MPI_COMM_WORLD, 1);
}

/* ---- the ways ---- */

static int write_some(MPI_File f, int way, MPI_Offset at,
		      const struct memory *m, MPI_Status *status)
{
	MPI_Request wait = MPI_REQUEST_NULL;
	const MPI_Datatype type = m->type->type;
	const int n = m->count;
	void *buf = m->buf;
	int err;

	switch (way) {
	case 0:
		return MPI_File_write_at(f, at, buf, n, type, status);
	case 1:
		return MPI_File_write_at_all(f, at, buf, n, type, status);
	case 2:
		MPI_File_seek(f, at, MPI_SEEK_SET);
		return MPI_File_write(f, buf, n, type, status);
	case 3:
		MPI_File_seek(f, at, MPI_SEEK_SET);
		return MPI_File_write_all(f, buf, n, type, status);
	case 4:
		MPI_File_write_at_all_begin(f, at, buf, n, type);
		return MPI_File_write_at_all_end(f, buf, status);
	case 5:
		err = MPI_File_iwrite_at(f, at, buf, n, type, &wait);
		break;
	case 6:
		err = MPI_File_iwrite_at_all(f, at, buf, n, type, &wait);
		break;
	case 7:
		MPI_File_seek(f, at, MPI_SEEK_SET);
		err = MPI_File_iwrite(f, buf, n, type, &wait);
		break;
	default:
		MPI_File_seek(f, at, MPI_SEEK_SET);
		err = MPI_File_iwrite_all(f, buf, n, type, &wait);
	}
	return err ? err : MPI_Wait(&wait, status);
}

static int read_some(MPI_File f, int way, MPI_Offset at, struct memory *m,
		     MPI_Status *status)
{
	MPI_Request wait = MPI_REQUEST_NULL;
	const MPI_Datatype type = m->type->type;
	const int n = m->count;
	void *buf = m->buf;
	int err;

	switch (way) {
	case 0:
		return MPI_File_read_at(f, at, buf, n, type, status);
	case 1:
		return MPI_File_read_at_all(f, at, buf, n, type, status);
	case 2:
		MPI_File_seek(f, at, MPI_SEEK_SET);
		return MPI_File_read(f, buf, n, type, status);
	case 3:
		MPI_File_seek(f, at, MPI_SEEK_SET);
		return MPI_File_read_all(f, buf, n, type, status);
	case 4:
		MPI_File_read_at_all_begin(f, at, buf, n, type);
		return MPI_File_read_at_all_end(f, buf, status);
	case 5:
		err = MPI_File_iread_at(f, at, buf, n, type, &wait);
		break;
	case 6:
		err = MPI_File_iread_at_all(f, at, buf, n, type, &wait);
		break;
	case 7:
		MPI_File_seek(f, at, MPI_SEEK_SET);
		err = MPI_File_iread(f, buf, n, type, &wait);
		break;
	default:
		MPI_File_seek(f, at, MPI_SEEK_SET);
		err = MPI_File_iread_all(f, buf, n, type, &wait);
	}
	return err ? err : MPI_Wait(&wait, status);
}

/*
 * Waits for all ranks asleep.  MPI_Barrier() polls, and takes the processors from ranks that still
 * work.
 */
static void together(void)
{
	const struct timespec nap = { .tv_nsec = 20000 };
	MPI_Request wait;
	int done = 0;

	MPI_Ibarrier(MPI_COMM_WORLD, &wait);
	for (;;) {
		MPI_Test(&wait, &done, MPI_STATUS_IGNORE);
		if (done)
			return;
		nanosleep(&nap, NULL);
	}
}

/* ---- the expected result ---- */

/* Returns the offset in the file of byte k of an access, relative to the round's base. */
static int64_t in_file(const struct round *t, int k)
{
	const struct rtype *v = t->view;
	int64_t n = (int64_t)t->skip * (t->by_element ? t->len : 1) + k;

	return t->disp - t->base + v->at[n % v->n] + n / v->n * v->extent;
}

static int64_t room(const struct round *t)
{
	return t->interleaved ? (int64_t)PART * ranks
			      : (int64_t)PART * (rank + 1);
}

/* Makes the access empty if the view has no room for all of it. */
static void fit(const struct round *t, struct memory *m)
{
	if (m->total && (!t->view->n || in_file(t, m->total - 1) >= room(t)))
		m->count = m->total = 0;
}

static bool mine(const struct round *t, int64_t at)
{
	if (!t->interleaved)
		return at >= (int64_t)PART * rank &&
		       at < (int64_t)PART * (rank + 1);
	return at % t->unit / t->len == rank;
}

/* Packs the memory with MPI, and checks that MPI and this program agree on the type. */
static void look_packed(const struct round *t, const struct memory *m)
{
	char *packed = malloc((size_t)m->total + 1);
	/* MPI_Pack() does not accept MPI_BOTTOM, so all bytes are read from one address higher */
	const int by = m->buf == MPI_BOTTOM;
	int at = 0, k;

	if (!m->type->hollow)
		MPI_Pack((char *)m->buf + by, m->count, m->type->type, packed,
			 m->total, &at, MPI_COMM_SELF);
	if (at && at != m->total)
		fail(t, "the test is wrong about a size", 0);
	for (k = 0; k < at; k++)
		if (packed[k] != memory_byte(m, k)[by])
			fail(t, "the test is wrong about a type", 0);
	free(packed);
}

static void look_count(const struct round *t, const struct memory *m,
		       const MPI_Status *status, int way)
{
	int n;

	MPI_Get_elements(status, MPI_BYTE, &n);
	/* ROMIO's own drivers may not set the count if there are no bytes */
	if (m->total && n != m->total)
		fail(t, "another count of bytes", way);
}

/* Checks this rank's part of the file. */
static void look_file(const struct round *t, int total, int way)
{
	const int64_t end = total ? in_file(t, total - 1) + 65 : 4096;
	const int64_t from = t->interleaved ? 0 : (int64_t)PART * rank;
	const int64_t len = (end < room(t) ? end : room(t)) - from;
	char *buf = malloc((size_t)PART * (size_t)ranks);

	MPI_File_read_at(t->raw, t->base + from, buf, (int)len, MPI_BYTE,
			 MPI_STATUS_IGNORE);
	for (int64_t k = 0; k < len; k++)
		if (mine(t, from + k) && buf[k] != t->image[from + k])
			fail(t, "wrong data in the file", way);
	free(buf);
}

static void do_write(struct round *t)
{
	const int way = rnd(&t->all, WAYS);
	MPI_Status status;
	struct memory m;
	int k;

	memory_draw(&m, &t->own, t->absolute, false,
		    t->by_element ? t->len : 1);
	fit(t, &m);
	look_packed(t, &m);
	for (k = 0; k < m.total; k++)
		t->image[in_file(t, k)] = *memory_byte(&m, k);
	if (write_some(t->file, way, t->skip, &m, &status))
		fail(t, "a write fails", way);
	look_count(t, &m, &status, way);
	if (!memory_right(&m))
		fail(t, "a write changed its memory", way);
	together();
	look_file(t, m.total, way);
	memory_free(&m);
}

static void do_read(struct round *t)
{
	const int way = rnd(&t->all, WAYS);
	MPI_Status status;
	struct memory m;
	int k;

	memory_draw(&m, &t->own, t->absolute, true, t->by_element ? t->len : 1);
	fit(t, &m);
	for (k = 0; k < m.total; k++)
		*memory_want(&m, k) = t->image[in_file(t, k)];
	if (read_some(t->file, way, t->skip, &m, &status))
		fail(t, "a read fails", way);
	look_count(t, &m, &status, way);
	if (!memory_right(&m))
		fail(t, "a read puts wrong data into memory", way);
	memory_free(&m);
}

/* ---- rounds ---- */

static void draw_view(struct round *t)
{
	t->interleaved = rnd(&t->all, 2);
	t->absolute = rnd(&t->all, 3) == 0;
	t->by_element = !t->absolute && rnd(&t->all, 3) == 0;
	t->len = 1 + rnd(&t->all, 8);
	t->unit = t->interleaved ? t->len * ranks
				 : t->len + rnd(&t->all, 3) * 2;
	t->element = rtype_element(&t->own, t->len, t->unit);
	MPI_Type_commit(&t->element->type);
	t->view = rtype_view(&t->own, t->element, t->unit, VIEW_SPAN);
	MPI_Type_commit(&t->view->type);
	t->base = (MPI_Offset)PART * ranks * t->number;
	t->disp = t->base + (t->interleaved ? (MPI_Offset)t->len * rank
					    : (MPI_Offset)PART * rank);
	/* a view without bytes has no offsets */
	t->skip = t->view->n ? rnd(&t->own, 6) : 0;
}

static void one_round(int seed, int number, MPI_File file, MPI_File raw)
{
	struct round t = {
		.number = number, .seed = seed, .file = file, .raw = raw
	};

	t.all.state = (uint64_t)seed * 1000003 + (uint64_t)number;
	t.own.state = t.all.state * 31 + (uint64_t)rank + 1;
	rnd(&t.all, 1);
	draw_view(&t);
	t.image = calloc((size_t)ranks, PART);
	if (MPI_File_set_view(t.file, t.disp,
			      t.by_element ? t.element->type : MPI_BYTE,
			      t.view->type, "native", MPI_INFO_NULL))
		fail(&t, "a view fails", 0);
	do_write(&t);
	do_read(&t);
	free(t.image);
	rtype_free(t.view);
	rtype_free(t.element);
}

static MPI_Info hints(int kind)
{
	static const char *const pairs[KINDS][10] = {
		{ NULL },
		{ "romio_cb_read", "enable", "romio_cb_write", "enable", NULL },
		{ "romio_cb_read", "enable", "romio_cb_write", "enable",
		  "cb_config_list", "*:2", "cb_nodes", "2", "cb_buffer_size",
		  "512" },
		{ "romio_pvfs_listio_read", "disable",
		  "romio_pvfs_listio_write", "disable", "ind_rd_buffer_size",
		  "512", "ind_wr_buffer_size", "512", NULL },
	};
	MPI_Info info;

	MPI_Info_create(&info);
	for (int i = 0; i < 10 && pairs[kind][i]; i += 2)
		MPI_Info_set(info, pairs[kind][i], pairs[kind][i + 1]);
	return info;
}

static MPI_File opened(MPI_Comm comm, const char *name, int kind, int rounds)
{
	char path[4096];
	MPI_File file;
	MPI_Info info = hints(kind);

	snprintf(path, sizeof(path), "%s.%d", name, kind);
	if (MPI_File_open(comm, path, MPI_MODE_CREATE | MPI_MODE_RDWR, info,
			  &file)) {
		fprintf(stderr, "cannot open %s\n", path);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	MPI_Info_free(&info);
	if (comm != MPI_COMM_SELF) {
		MPI_File_set_size(file, 0);
		MPI_File_set_size(file, (MPI_Offset)PART * ranks * rounds);
	}
	return file;
}

/* Runs the rounds.  They alternate between all files and kinds of hints.  The files stay open. */
static void run(int seed, int rounds, int names, char **name)
{
	const int n = names * KINDS;
	MPI_File *file = malloc(sizeof(MPI_File) * (size_t)n);
	MPI_File *raw = malloc(sizeof(MPI_File) * (size_t)n);
	int i;

	for (i = 0; i < n; i++) {
		file[i] = opened(MPI_COMM_WORLD, name[i / KINDS], i % KINDS,
				 rounds);
		raw[i] = opened(MPI_COMM_SELF, name[i / KINDS], i % KINDS,
				rounds);
	}
	for (i = 0; i < rounds; i++)
		one_round(seed, i, file[i % n], raw[i % n]);
	for (i = 0; i < n; i++) {
		MPI_File_close(&file[i]);
		MPI_File_close(&raw[i]);
	}
	free(raw);
	free(file);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (argc < 4 || atoi(argv[2]) > ROUNDS_MAX) {
		fputs("usage: types SEED ROUNDS FILE...\n", stderr);
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	run(atoi(argv[1]), atoi(argv[2]), argc - 3, argv + 3);
	if (rank == 0)
		puts("ok");
	MPI_Finalize();
	return 0;
}
