/* SPDX-License-Identifier: BSD-2-Clause */
/* strided.c - see strided.h. */
#include "romio-adio/strided.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include <pvfs.h>

/* ---- the span of a buffer ---- */

static bool is_named(MPI_Datatype type)
{
	int ni, na, nt, combiner;

	PMPI_Type_get_envelope(type, &ni, &na, &nt, &combiner);
	return combiner == MPI_COMBINER_NAMED;
}

static bool one_array(MPI_Datatype type);

/* Whether a type that repeats one other type describes one array. */
static bool inner_one_array(MPI_Datatype type, int ni, int na, int nt)
{
	int *ints = calloc((size_t)ni + 1, sizeof(*ints));
	MPI_Aint *addrs = calloc((size_t)na + 1, sizeof(*addrs));
	MPI_Datatype inner;
	bool yes = false;

	if (nt == 1 && ints && addrs) {
		PMPI_Type_get_contents(type, ni, na, nt, ints, addrs, &inner);
		yes = one_array(inner);
		if (!is_named(inner))
			PMPI_Type_free(&inner);
	}
	free(addrs);
	free(ints);
	return yes;
}

static bool one_array(MPI_Datatype type)
{
	int ni, na, nt, combiner;

	PMPI_Type_get_envelope(type, &ni, &na, &nt, &combiner);
	switch (combiner) {
	case MPI_COMBINER_NAMED:
		return true;
	case MPI_COMBINER_DUP:
	case MPI_COMBINER_CONTIGUOUS:
	case MPI_COMBINER_VECTOR:
	case MPI_COMBINER_HVECTOR:
	case MPI_COMBINER_SUBARRAY:
	case MPI_COMBINER_DARRAY:
	case MPI_COMBINER_RESIZED:
		return inner_one_array(type, ni, na, nt);
	default:
		return false;
	}
}

static struct span span_of(const void *buf, int count, MPI_Datatype type)
{
	MPI_Count lb, extent, true_lb, true_extent;
	struct span span = { .known = one_array(type) };

	PMPI_Type_get_extent_x(type, &lb, &extent);
	PMPI_Type_get_true_extent_x(type, &true_lb, &true_extent);
	span.start = (int64_t)(intptr_t)buf + true_lb;
	span.len = (count - 1) * extent + true_extent;
	if (extent < 0)
		span.known = false;
	return span;
}

/* Fills hint and hint_len, one entry for each piece of mem.  The span must be known. */
static void span_hints(const struct span *span, const struct pieces *mem,
		       char **hint, size_t *hint_len)
{
	size_t i;

	for (i = 0; i < mem->n; i++) {
		hint[i] = (char *)(intptr_t)span->start;
		hint_len[i] = (size_t)span->len;
	}
}

/* ---- accesses ---- */

/* maximum for one call of the library, on each side */
#define PIECES_MAX 16384u
#define UNBROKEN (1ll << 40) /* bytes: contiguous types are one piece */

static int flat_keep(struct flat *f)
{
	size_t n = f->tile.n;

	f->copy = malloc(2 * n * sizeof(*f->copy));
	if (!f->copy)
		return -ENOMEM;
	memcpy(f->copy, f->tile.at, n * sizeof(*f->copy));
	memcpy(f->copy + n, f->tile.len, n * sizeof(*f->copy));
	f->tile.at = f->copy;
	f->tile.len = f->copy + n;
	return 0;
}

static void flat_contig(struct flat *f, int64_t size)
{
	f->whole = size;
	f->tile = (struct tile){ &f->zero, &f->whole, 1, size, size };
}

static int flat_init(struct flat *f, MPI_Datatype type, bool keep)
{
	const ADIOI_Flatlist_node *node;
	MPI_Aint lb, extent;
	MPI_Count size;
	int contig;

	MPI_Type_size_x(type, &size);
	MPI_Type_get_extent(type, &lb, &extent);
	ADIOI_Datatype_iscontig(type, &contig);
	flat_contig(f, contig && size && extent == size ? UNBROKEN : size);
	if (f->whole == UNBROKEN)
		return 0;
	f->tile.extent = extent;
	if (contig || size == 0)
		return 0;
	node = ADIOI_Flatten_and_find(type);
	f->tile.at = node->indices;
	f->tile.len = node->blocklens;
	f->tile.n = (size_t)node->count;
	return keep ? flat_keep(f) : 0;
}

static int pieces_alloc(struct pieces *p)
{
	p->max = PIECES_MAX;
	p->at = malloc(PIECES_MAX * sizeof(*p->at));
	p->len = malloc(PIECES_MAX * sizeof(*p->len));
	return p->at && p->len ? 0 : -ENOMEM;
}

static int strided_alloc(struct strided *s)
{
	s->hint = malloc(PIECES_MAX * sizeof(*s->hint));
	s->hint_len = malloc(PIECES_MAX * sizeof(*s->hint_len));
	if (!s->hint || !s->hint_len || pieces_alloc(&s->m) ||
	    pieces_alloc(&s->f))
		return -ENOMEM;
	return 0;
}

/* Sets the position where an access begins in the file. */
static void start_file(struct strided *s, const ADIO_File fd, unsigned int how,
		       int ptr, ADIO_Offset off)
{
	const struct tile *tile = &s->file_type.tile;

	if (ptr == ADIO_INDIVIDUAL)
		off = fd->fp_ind;
	if (how & STRIDED_CONTIG)
		cursor_at(&s->file, tile, off, 0);
	else if (ptr == ADIO_INDIVIDUAL)
		cursor_seek(&s->file, tile, fd->disp, off);
	else
		cursor_at(&s->file, tile, fd->disp, off * fd->etype_size);
}

static int init_types(struct strided *s, const ADIO_File fd, unsigned int how,
		      int count, MPI_Datatype type)
{
	const bool keep = how & STRIDED_KEEP;
	int err = flat_init(&s->mem_type, type, keep);
	MPI_Count size;

	if (err)
		return err;
	MPI_Type_size_x(type, &size);
	s->total = size * count;
	if (how & STRIDED_CONTIG) {
		flat_contig(&s->file_type, UNBROKEN);
		return 0;
	}
	err = flat_init(&s->file_type, fd->filetype, keep);
	if (!err && s->file_type.tile.size == 0)
		s->total = 0;
	return err;
}

int strided_init(struct strided *s, ADIO_File fd, unsigned int how,
		 const void *buf, int count, MPI_Datatype type, int ptr,
		 ADIO_Offset off)
{
	int err;

	memset(s, 0, sizeof(*s));
	s->fd = fd->fd_sys;
	s->write = how & STRIDED_WRITE;
	/* the caller locks a contiguous access */
	s->atomic = fd->atomicity && !(how & STRIDED_CONTIG);
	err = init_types(s, fd, how, count, type);
	if (!err && s->total)
		err = strided_alloc(s);
	if (err) {
		strided_free(s);
		return err;
	}
	if (!s->total)
		return 0;
	cursor_at(&s->mem, &s->mem_type.tile, (int64_t)(intptr_t)buf, 0);
	start_file(s, fd, how, ptr, off);
	s->span = span_of(buf, count, type);
	return 0;
}

bool strided_alone(struct strided *s, const char *name)
{
	struct pvfs_handle handle;
	int fd;

	if (!s->total)
		return true;
	if (pvfs_get_handle(s->fd, &handle))
		return false;
	fd = pvfs_open_handle(name, &handle, s->write ? O_WRONLY : O_RDONLY);
	if (fd < 0)
		return false;
	s->fd = fd;
	s->own_fd = true;
	return true;
}

void strided_free(struct strided *s)
{
	if (s->own_fd)
		pvfs_close(s->fd);
	free(s->m.at);
	free(s->m.len);
	free(s->f.at);
	free(s->f.len);
	free(s->hint);
	free(s->hint_len);
	free(s->mem_type.copy);
	free(s->file_type.copy);
}

void strided_first(struct strided *s)
{
	s->at_mem = s->mem;
	s->at_file = s->file;
	s->done = 0;
}

void strided_next(struct strided *s, struct strided_call *call)
{
	bool known = s->span.known;

	s->m.n = s->f.n = 0;
	s->want = pieces_fill(&s->m, &s->at_mem, &s->f, &s->at_file,
			      s->total - s->done);
	if (known)
		span_hints(&s->span, &s->m, s->hint, s->hint_len);
	/* positions in memory are addresses */
	*call = (struct strided_call){
		.mem = (char *const *)s->m.at,
		.mem_len = (const size_t *)s->m.len,
		.hint = known ? s->hint : NULL,
		.hint_len = known ? s->hint_len : NULL,
	};
}

bool strided_more(struct strided *s, int64_t n)
{
	s->done += n;
	/* fewer bytes: the end of the file */
	return n == s->want && s->done < s->total;
}

static ssize_t transfer_pieces(struct strided *s, const struct strided_call *c)
{
	return s->write ? pvfs_write_list64(s->fd, s->m.n, c->mem, c->mem_len,
					    c->hint, c->hint_len, s->f.n,
					    s->f.at, s->f.len)
			: pvfs_read_list64(s->fd, s->m.n, c->mem, c->mem_len,
					   c->hint, c->hint_len, s->f.n,
					   s->f.at, s->f.len);
}

static int64_t run_calls(struct strided *s)
{
	struct strided_call call;
	ssize_t n;

	strided_first(s);
	do {
		strided_next(s, &call);
		n = transfer_pieces(s, &call);
		if (n < 0)
			return -errno;
	} while (strided_more(s, n));
	return s->done;
}

/* The range from the first byte to the last, including holes. */
struct flock strided_range(const struct strided *s, int type)
{
	int64_t first = cursor_place(&s->file);

	return (struct flock){ .l_type = (short)type,
			       .l_whence = SEEK_SET,
			       .l_start = first,
			       .l_len = strided_place(s, s->total - 1) + 1 -
					first };
}

static int lock_range(const struct strided *s, int type)
{
	const struct flock range = strided_range(s, type);

	return ad_pvfs_lock_range(s->fd, F_SETLKW, &range);
}

int64_t strided_run(struct strided *s)
{
	int64_t done;
	int err;

	if (!s->total)
		return 0;
	if (!s->atomic)
		return run_calls(s);
	err = lock_range(s, s->write ? F_WRLCK : F_RDLCK);
	if (err)
		return err;
	done = run_calls(s);
	err = lock_range(s, F_UNLCK);
	return done < 0 ? done : err ? err : done;
}

int64_t strided_place(const struct strided *s, int64_t n)
{
	struct cursor at = s->file;

	while (n > 0) {
		int64_t run = cursor_run(&at) < n ? cursor_run(&at) : n;

		cursor_advance(&at, run);
		n -= run;
	}
	return cursor_place(&at);
}
