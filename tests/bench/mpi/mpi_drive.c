/* SPDX-License-Identifier: BSD-2-Clause */
/* mpi_drive.c - moves a pattern in several ways, checks the data and measures the time. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pvfs.h>

#include "tests/bench/mpi/mpi_bench.h"

/* A way to make an access.  The hints are those of ROMIO. */
struct way {
	const char *name;
	/* values of romio_pvfs_listio_* and romio_ds_* */
	const char *listio, *sieving;
	bool collective;
	/* calls libpvfs instead of MPI-IO; only for contiguous patterns */
	bool native;
	bool none; /* moves nothing */
};

static const struct way ways[] = {
	{ "list", "enable", NULL, false, false },
	{ "sieving", "disable", "enable", false, false },
	{ "pieces", "disable", "disable", false, false },
	{ "collective", NULL, NULL, true, false },
	{ "native", NULL, NULL, false, true },
	{ "none", NULL, NULL, false, false, true },
};
#define OTHER (-1) /* used as a step: data that no step writes */
#define WAYS (sizeof(ways) / sizeof(ways[0]))

struct run {
	const struct options *o;
	const struct pattern *p;
	char *data, *back; /* the bytes of one step, packed */
	double seconds[WAYS][2][ROUNDS_MAX];
};

static bool chosen(const struct options *o, const struct way *way)
{
	const char *at = o->ways;
	size_t len = strlen(way->name);

	while (at && *at) {
		if (!strncmp(at, way->name, len) &&
		    (at[len] == ',' || !at[len]))
			return true;
		at = strchr(at, ',');
		at += at != NULL;
	}
	return false;
}

/* ---- data ---- */

static void fill(const struct run *r, int step)
{
	const struct options *o = r->o;
	uint32_t x = (uint32_t)(o->rank * 7919 + step) * 2654435761u;
	int i, at = 0;

	for (i = 0; i < r->p->bytes; i++) {
		x = x * 1664525u + 1013904223u;
		r->data[i] = (char)(x >> 24);
	}
	sure(MPI_Unpack(r->data, r->p->bytes, &at, r->p->buf, 1, r->p->memory,
			MPI_COMM_SELF),
	     "MPI_Unpack");
}

static void check(const struct run *r, int step, const char *way)
{
	int at = 0;

	sure(MPI_Pack(r->p->buf, 1, r->p->memory, r->back, r->p->bytes, &at,
		      MPI_COMM_SELF),
	     "MPI_Pack");
	fill(r, step);
	if (memcmp(r->back, r->data, (size_t)r->p->bytes) != 0)
		die("%s: step %d of rank %d reads other bytes", way, step,
		    r->o->rank);
}

/* ---- moving ---- */

struct opened {
	MPI_File file;
	int fd; /* descriptor of libpvfs, for a native way */
};

/* Opens the file by libpvfs.  Its name is the part after "pvfs:". */
static void open_native(const struct run *r, struct opened *f)
{
	const char *colon = strchr(r->o->file, ':');
	const char *name = colon ? colon + 1 : r->o->file;

	if (r->p->view != MPI_BYTE)
		die("native: for contiguous patterns only");
	f->fd = pvfs_open(name, O_CREAT | O_RDWR, 0666);
	if (f->fd < 0)
		die("%s: %s", name, strerror(errno));
}

static void open_mpi(const struct run *r, const struct way *way,
		     struct opened *f)
{
	MPI_Info info = hints(r->o);

	if (way->listio) {
		MPI_Info_set(info, "romio_pvfs_listio_read", way->listio);
		MPI_Info_set(info, "romio_pvfs_listio_write", way->listio);
	}
	if (way->sieving) {
		MPI_Info_set(info, "romio_ds_read", way->sieving);
		MPI_Info_set(info, "romio_ds_write", way->sieving);
	}
	sure(MPI_File_open(MPI_COMM_WORLD, r->o->file,
			   MPI_MODE_CREATE | MPI_MODE_RDWR, info, &f->file),
	     "MPI_File_open");
	sure(MPI_File_set_view(f->file, 0, MPI_BYTE, r->p->view, "native",
			       info),
	     "MPI_File_set_view");
	MPI_Info_free(&info);
}

static void move_native(const struct run *r, const struct opened *f, bool write,
			int step)
{
	const struct pattern *p = r->p;
	MPI_Offset off = p->first + step * p->next;
	size_t len = (size_t)p->bytes;
	ssize_t n = write ? pvfs_pwrite(f->fd, p->buf, len, off)
			  : pvfs_pread(f->fd, p->buf, len, off);

	if (n != (ssize_t)len)
		die("native: %zd of %zu bytes", n, len);
}

static void move_mpi(const struct run *r, const struct opened *f,
		     const struct way *way, bool write, int step)
{
	const struct pattern *p = r->p;
	MPI_Offset off = p->first + step * p->next;
	MPI_File file = f->file;
	MPI_Status st;
	int code, n;

	if (way->collective)
		code = write ? MPI_File_write_at_all(file, off, p->buf, 1,
						     p->memory, &st)
			     : MPI_File_read_at_all(file, off, p->buf, 1,
						    p->memory, &st);
	else
		code = write ? MPI_File_write_at(file, off, p->buf, 1,
						 p->memory, &st)
			     : MPI_File_read_at(file, off, p->buf, 1, p->memory,
						&st);
	sure(code, way->name);
	MPI_Get_count(&st, MPI_BYTE, &n);
	if (n != p->bytes)
		die("%s: %d of %d bytes", way->name, n, p->bytes);
}

static void move(const struct run *r, const struct opened *f,
		 const struct way *way, bool write, int step)
{
	if (way->native)
		move_native(r, f, write, step);
	else if (!way->none)
		move_mpi(r, f, way, write, step);
}

static void flush(const struct opened *f, const struct way *way)
{
	if (!way->native)
		sure(MPI_File_sync(f->file), "MPI_File_sync");
	else if (pvfs_fsync(f->fd))
		die("native: flush: %s", strerror(errno));
}

static double timed(const struct run *r, const struct opened *f,
		    const struct way *way, bool write)
{
	double start;
	int step;

	barrier();
	start = MPI_Wtime();
	for (step = 0; step < r->p->steps; step++) {
		if (r->o->work)
			bt_solve(r->p, r->o->work);
		move(r, f, way, write, step);
	}
	if (write && r->o->flush)
		flush(f, way);
	return slowest(MPI_Wtime() - start);
}

/*
 * Writes and reads data that is different for each way, so that data of another way is not
 * accepted.
 */
static void verify(const struct run *r, const struct opened *f,
		   const struct way *way, int salt)
{
	int step;

	for (step = 0; step < r->p->steps; step++) {
		fill(r, step + salt);
		move(r, f, way, true, step);
	}
	barrier();
	for (step = 0; step < r->p->steps; step++) {
		fill(r, OTHER);
		move(r, f, way, false, step);
		check(r, step + salt, way->name);
	}
	barrier();
}

static void way_round(struct run *r, size_t w, int round)
{
	const struct way *way = &ways[w];
	struct opened f;

	if (way->native)
		open_native(r, &f);
	else
		open_mpi(r, way, &f);
	if (round < 0) {
		verify(r, &f, way, (int)(w + 1) * 1000);
	} else {
		r->seconds[w][1][round] = timed(r, &f, way, true);
		if (!r->o->work)
			r->seconds[w][0][round] = timed(r, &f, way, false);
	}
	if (way->native)
		pvfs_close(f.fd);
	else
		sure(MPI_File_close(&f.file), "MPI_File_close");
}

/* ---- output ---- */

static double ratio(const struct run *r, size_t w, int write)
{
	double v[ROUNDS_MAX];
	int i;

	for (i = 0; i < r->o->rounds; i++)
		v[i] = r->seconds[w][write][i] / r->seconds[0][write][i];
	return median(v, r->o->rounds);
}

static struct json_object *figures(const struct run *r, size_t w, int write)
{
	const struct pattern *p = r->p;
	struct json_object *obj = json_object_new_object();
	double secs = median(r->seconds[w][write], r->o->rounds);
	double bytes = (double)p->bytes * p->steps * r->o->ranks;

	json_object_object_add(obj, "seconds", json_object_new_double(secs));
	json_object_object_add(obj, "mb_per_s",
			       json_object_new_double(bytes / secs / 1e6));
	if (w && chosen(r->o, &ways[0]))
		json_object_object_add(obj, "list_is_faster",
				       json_object_new_double(
					       ratio(r, w, write)));
	return obj;
}

static void say(const struct run *r, struct json_object *out)
{
	static const char *const side[] = { "read", "write" };
	size_t w;
	int write;

	for (write = 1; write >= (r->o->work != 0); write--) {
		struct json_object *obj = json_object_new_object();

		for (w = 0; w < WAYS; w++) {
			if (chosen(r->o, &ways[w]))
				json_object_object_add(obj, ways[w].name,
						       figures(r, w, write));
		}
		json_object_object_add(out, side[write], obj);
	}
}

void drive(const struct options *o, const struct pattern *p,
	   struct json_object *out)
{
	struct run *r = memory(sizeof(*r));
	size_t i, w;
	int round;

	r->o = o;
	r->p = p;
	r->data = memory((size_t)p->bytes);
	r->back = memory((size_t)p->bytes);
	if (!o->work) /* with work, the computation begins with zeros */
		fill(r, 0);
	for (round = o->verify ? -1 : 0; round < o->rounds; round++) {
		for (i = 0; i < WAYS; i++) {
			/* the order alternates, so that each way is first sometimes */
			w = round % 2 ? WAYS - 1 - i : i;
			if (chosen(o, &ways[w]))
				way_round(r, w, round);
		}
	}
	json_object_object_add(out, "bytes_per_rank",
			       json_object_new_int64((int64_t)p->bytes *
						     p->steps));
	say(r, out);
	free(r->data);
	free(r->back);
	free(r);
}
