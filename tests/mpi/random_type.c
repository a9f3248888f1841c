/* SPDX-License-Identifier: BSD-2-Clause */
/* random_type.c - see random_type.h. */
#include <stdlib.h>
#include <string.h>

#include "tests/mpi/random_type.h"

#define MEMBERS 5 /* maximum number of members of one type */
#define DIMS 3

/* The parameters of the type that is being made. */
struct maker {
	struct rnd *rnd;
	/* element of a file view; NULL: the type is for memory */
	const struct rtype *element;
	int64_t unit, span;
};

int rnd(struct rnd *r, int n)
{
	uint64_t x = r->state += 0x9e3779b97f4a7c15ull;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return (int)((x ^ x >> 31) % (uint64_t)n);
}

void rtype_bounds(const struct rtype *t, int64_t *first, int64_t *end)
{
	*first = t->n ? t->at[0] : 0;
	*end = *first;
	for (int i = 0; i < t->n; i++) {
		*first = t->at[i] < *first ? t->at[i] : *first;
		*end = t->at[i] >= *end ? t->at[i] + 1 : *end;
	}
}

void rtype_free(struct rtype *t)
{
	int ints, addrs, types, combiner;

	MPI_Type_get_envelope(t->type, &ints, &addrs, &types, &combiner);
	if (combiner != MPI_COMBINER_NAMED)
		MPI_Type_free(&t->type);
	free(t);
}

static struct rtype *new_type(void)
{
	return calloc(1, sizeof(struct rtype));
}

/* Gets the bounds of a new type from MPI. */
static struct rtype *made(struct rtype *t)
{
	MPI_Aint lb, extent;

	MPI_Type_get_extent(t->type, &lb, &extent);
	t->lb = lb;
	t->extent = extent;
	return t;
}

static int64_t up(int64_t n, int64_t unit)
{
	return (n + unit - 1) / unit * unit;
}

/* Adds the bytes of copies of `what`. Returns false if the type would have too many bytes. */
static bool put(struct rtype *t, const struct rtype *what, int64_t at,
		int copies)
{
	t->hollow = t->hollow || what->hollow || what->n == 0 || copies == 0;
	for (int c = 0; c < copies; c++, at += what->extent) {
		if (t->n + what->n > TYPE_BYTES)
			return false;
		for (int i = 0; i < what->n; i++)
			t->at[t->n++] = at + what->at[i];
	}
	return true;
}

/* ---- the basic types ---- */

/* long double is not among them: MPICH may change its padding when it moves one. */
static const struct {
	MPI_Datatype type;
	int first, gap, last;
} basic[] = {
	{ MPI_BYTE, 1, 0, 0 },	    { MPI_CHAR, 1, 0, 0 },
	{ MPI_SHORT, 2, 0, 0 },	    { MPI_INT, 4, 0, 0 },
	{ MPI_DOUBLE, 8, 0, 0 },    { MPI_2INT, 8, 0, 0 },
	{ MPI_SHORT_INT, 2, 2, 4 }, { MPI_DOUBLE_INT, 12, 0, 0 },
	{ MPI_LONG_INT, 12, 0, 0 }, { MPI_FLOAT_INT, 8, 0, 0 },
	{ MPI_C_BOOL, 1, 0, 0 },    { MPI_C_DOUBLE_COMPLEX, 16, 0, 0 },
};

static struct rtype *named(struct rnd *r)
{
	const int k = rnd(r, (int)(sizeof(basic) / sizeof(basic[0])));
	struct rtype *t = new_type();
	int i;

	t->type = basic[k].type;
	for (i = 0; i < basic[k].first; i++)
		t->at[t->n++] = i;
	for (i = 0; i < basic[k].last; i++)
		t->at[t->n++] = basic[k].first + basic[k].gap + i;
	return made(t);
}

struct rtype *rtype_element(struct rnd *r, int len, int64_t unit)
{
	struct rtype *t = new_type();
	MPI_Datatype bytes;

	MPI_Type_contiguous(len, MPI_BYTE, &bytes);
	MPI_Type_create_resized(bytes, 0, unit, &t->type);
	MPI_Type_free(&bytes);
	for (t->n = 0; t->n < len; t->n++)
		t->at[t->n] = t->n;
	return made(t);
}

static struct rtype *copied(const struct rtype *from)
{
	struct rtype *t = new_type();

	*t = *from;
	MPI_Type_dup(from->type, &t->type);
	return t;
}

/* ---- lists of members ---- */

static bool view(const struct maker *m)
{
	return m->element != NULL;
}

/* Returns a small number of members, sometimes 0. */
static int some(const struct maker *m)
{
	return rnd(m->rnd, 8) ? 1 + rnd(m->rnd, MEMBERS - 1)
			      : rnd(m->rnd, 2) * MEMBERS;
}

/* Returns the next displacement in steps.  In a view it is not below `end`. */
static int next_at(const struct maker *m, int end)
{
	if (view(m))
		return end + (rnd(m->rnd, 2) ? rnd(m->rnd, 4) : 0);
	return rnd(m->rnd, 3) ? end + rnd(m->rnd, 4) - 1 : rnd(m->rnd, 41) - 20;
}

static bool fits(const struct maker *m, const struct rtype *t)
{
	int64_t first, end, low = t->lb, high = t->lb + t->extent;

	rtype_bounds(t, &first, &end);
	low = first < low ? first : low;
	high = end > high ? end : high;
	if (high - low > m->span || low < -m->span || high > m->span)
		return false;
	if (!view(m))
		return true;
	for (int i = 1; i < t->n; i++)
		if (t->at[i] <= t->at[i - 1])
			return false;
	/* the tiles of a view must not overlap */
	return end - first <= t->extent;
}

static struct rtype *vector(const struct maker *m, const struct rtype *one)
{
	const int n = some(m), len = some(m);
	const int stride = view(m) ? len + rnd(m->rnd, 3)
				   : len + rnd(m->rnd, 12) - 6 -
					     len * 2 * rnd(m->rnd, 2);
	const bool bytes = rnd(m->rnd, 2);
	struct rtype *t = new_type();
	const int64_t step = stride * one->extent +
			     (bytes && !view(m) ? rnd(m->rnd, 9) : 0);
	bool ok = true;

	if (bytes)
		MPI_Type_create_hvector(n, len, step, one->type, &t->type);
	else
		MPI_Type_vector(n, len, stride, one->type, &t->type);
	for (int i = 0; i < n; i++)
		ok = ok && put(t, one, i * step, len);
	t->n = ok ? t->n : -1;
	return t;
}

static struct rtype *contiguous(const struct maker *m, const struct rtype *one)
{
	struct rtype *t = new_type();
	const int n = some(m);

	MPI_Type_contiguous(n, one->type, &t->type);
	if (!put(t, one, 0, n))
		t->n = -1;
	return t;
}

/* The displacements of the members, in steps of the extent or in bytes. */
struct members {
	int n, len[MEMBERS], at[MEMBERS];
	MPI_Aint byte[MEMBERS];
};

static void draw_members(const struct maker *m, struct members *list,
			 int64_t extent, bool same)
{
	const int len = some(m);
	int end = 0;

	list->n = some(m);
	for (int i = 0; i < list->n; i++) {
		list->len[i] = same ? len : some(m);
		list->at[i] = next_at(m, end);
		end = list->at[i] + list->len[i];
		list->byte[i] = list->at[i] * extent +
				(view(m) ? 0 : rnd(m->rnd, 3));
	}
}

static struct rtype *indexed(const struct maker *m, const struct rtype *one)
{
	const bool same = rnd(m->rnd, 2), bytes = rnd(m->rnd, 2);
	struct rtype *t = new_type();
	struct members l;
	bool ok = true;

	draw_members(m, &l, one->extent, same);
	if (same && bytes)
		MPI_Type_create_hindexed_block(l.n, l.n ? l.len[0] : 0, l.byte,
					       one->type, &t->type);
	else if (same)
		MPI_Type_create_indexed_block(l.n, l.n ? l.len[0] : 0, l.at,
					      one->type, &t->type);
	else if (bytes)
		MPI_Type_create_hindexed(l.n, l.len, l.byte, one->type,
					 &t->type);
	else
		MPI_Type_indexed(l.n, l.len, l.at, one->type, &t->type);
	for (int i = 0; i < l.n; i++)
		ok = ok &&
		     put(t, one, bytes ? l.byte[i] : l.at[i] * one->extent,
			 l.len[i]);
	t->n = ok ? t->n : -1;
	return t;
}

static struct rtype *make(const struct maker *m, int depth);

static struct rtype *structure(const struct maker *m, const struct rtype *one,
			       int depth)
{
	const struct rtype *which[MEMBERS];
	MPI_Datatype types[MEMBERS];
	struct rtype *t = new_type(), *other = make(m, depth);
	struct members l;
	int64_t end = 0;
	bool ok = true;

	draw_members(m, &l, 1, false);
	for (int i = 0; i < l.n; i++) {
		which[i] = rnd(m->rnd, 2) ? one : other;
		types[i] = which[i]->type;
		if (view(m))
			l.byte[i] = up(end, m->unit) + rnd(m->rnd, 3) * m->unit;
		ok = ok && put(t, which[i], l.byte[i], l.len[i]);
		end = l.byte[i] + which[i]->lb + l.len[i] * which[i]->extent;
		end = t->n && t->at[t->n - 1] >= end ? t->at[t->n - 1] + 1
						     : end;
	}
	MPI_Type_create_struct(l.n, l.len, l.byte, types, &t->type);
	t->n = ok ? t->n : -1;
	rtype_free(other);
	return t;
}

static struct rtype *resized(const struct maker *m, const struct rtype *one)
{
	struct rtype *t = copied(one);
	int64_t first, end, lb, extent;

	rtype_bounds(one, &first, &end);
	lb = view(m) ? rnd(m->rnd, 3) * m->unit : rnd(m->rnd, 33) - 16;
	extent = view(m) ? up(end, m->unit) + rnd(m->rnd, 3) * m->unit
			 : end - first + rnd(m->rnd, 17) - 2;
	if (extent < 0)
		extent = 0;
	MPI_Type_free(&t->type);
	MPI_Type_create_resized(one->type, lb, extent, &t->type);
	return t;
}

/* ---- arrays ---- */

/* Walks all indices of the array, in the order of memory. */
static bool put_array(struct rtype *t, const struct rtype *one, int dims,
		      const int *size, int order,
		      bool (*in)(const void *, int dim, int index),
		      const void *arg)
{
	int total = 1, d, k;

	for (d = 0; d < dims; d++)
		total *= size[d];
	for (int i = 0; i < total; i++) {
		int left = i;
		bool taken = true;

		for (k = 0; k < dims; k++) {
			d = order == MPI_ORDER_C ? dims - 1 - k : k;
			taken = taken && in(arg, d, left % size[d]);
			left /= size[d];
		}
		if (taken && !put(t, one, i * one->extent, 1))
			return false;
	}
	return true;
}

struct part {
	int size[DIMS], sub[DIMS], start[DIMS];
};

static bool in_part(const void *arg, int dim, int index)
{
	const struct part *p = arg;

	return index >= p->start[dim] && index < p->start[dim] + p->sub[dim];
}

static struct rtype *subarray(const struct maker *m, const struct rtype *one)
{
	const int dims = 1 + rnd(m->rnd, DIMS);
	const int order = rnd(m->rnd, 2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
	const bool whole = rnd(m->rnd, 3) == 0;
	struct rtype *t = new_type();
	struct part p;

	for (int d = 0; d < dims; d++) {
		p.size[d] = 1 + rnd(m->rnd, 4);
		p.sub[d] = whole ? p.size[d] : 1 + rnd(m->rnd, p.size[d]);
		p.start[d] = rnd(m->rnd, p.size[d] - p.sub[d] + 1);
	}
	MPI_Type_create_subarray(dims, p.size, p.sub, p.start, order, one->type,
				 &t->type);
	if (!put_array(t, one, dims, p.size, order, in_part, &p))
		t->n = -1;
	return t;
}

struct share {
	int size[DIMS], how[DIMS], arg[DIMS], procs[DIMS], place[DIMS];
};

static bool in_share(const void *arg, int dim, int index)
{
	const struct share *s = arg;
	int len = s->arg[dim];

	if (s->how[dim] == MPI_DISTRIBUTE_NONE)
		return true;
	if (len == MPI_DISTRIBUTE_DFLT_DARG)
		len = s->how[dim] == MPI_DISTRIBUTE_CYCLIC
			      ? 1
			      : (s->size[dim] + s->procs[dim] - 1) /
					s->procs[dim];
	return index / len % s->procs[dim] == s->place[dim];
}

static void draw_dim(const struct maker *m, struct share *s, int d)
{
	static const int hows[] = { MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC,
				    MPI_DISTRIBUTE_NONE };

	s->how[d] = hows[rnd(m->rnd, 3)];
	s->size[d] = 1 + rnd(m->rnd, 6);
	s->procs[d] = s->how[d] == MPI_DISTRIBUTE_NONE ? 1 : 1 + rnd(m->rnd, 3);
	s->arg[d] = MPI_DISTRIBUTE_DFLT_DARG;
	if (s->how[d] != MPI_DISTRIBUTE_NONE && rnd(m->rnd, 2))
		s->arg[d] = (s->how[d] == MPI_DISTRIBUTE_BLOCK
				     ? (s->size[d] + s->procs[d] - 1) /
					       s->procs[d]
				     : 1) +
			    rnd(m->rnd, 2);
	s->place[d] = rnd(m->rnd, s->procs[d]);
}

static struct rtype *darray(const struct maker *m, const struct rtype *one)
{
	const int dims = 1 + rnd(m->rnd, DIMS);
	const int order = rnd(m->rnd, 2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
	struct rtype *t = new_type();
	int rank = 0, ranks = 1;
	struct share s;

	for (int d = 0; d < dims; d++) {
		draw_dim(m, &s, d);
		rank = rank * s.procs[d] + s.place[d];
		ranks *= s.procs[d];
	}
	MPI_Type_create_darray(ranks, rank, dims, s.size, s.how, s.arg, s.procs,
			       order, one->type, &t->type);
	if (!put_array(t, one, dims, s.size, order, in_share, &s))
		t->n = -1;
	return t;
}

/* ---- trees ---- */

static struct rtype *over(const struct maker *m, const struct rtype *one,
			  int depth)
{
	switch (rnd(m->rnd, 10)) {
	case 0:
		return contiguous(m, one);
	case 1:
	case 2:
		return vector(m, one);
	case 3:
	case 4:
		return indexed(m, one);
	case 5:
		return structure(m, one, depth);
	case 6:
		return subarray(m, one);
	case 7:
		return darray(m, one);
	case 8:
		return resized(m, one);
	default:
		return copied(one);
	}
}

static struct rtype *make(const struct maker *m, int depth)
{
	struct rtype *one, *t;

	if (depth == 0)
		return view(m) ? copied(m->element) : named(m->rnd);
	one = make(m, depth - 1);
	t = over(m, one, depth - 1);
	if (t->n < 0 || !fits(m, made(t))) {
		rtype_free(t);
		return one;
	}
	rtype_free(one);
	return t;
}

struct rtype *rtype_memory(struct rnd *r, int64_t span)
{
	const struct maker m = { r, NULL, 1, span };

	return make(&m, rnd(r, 5));
}

struct rtype *rtype_view(struct rnd *r, const struct rtype *element,
			 int64_t unit, int64_t span)
{
	const struct maker m = { r, element, unit, span };

	return make(&m, rnd(r, 5));
}

struct rtype *rtype_absolute(struct rnd *r, struct rtype **part,
			     const int64_t *address, int parts)
{
	struct rtype *t = new_type();
	MPI_Datatype types[MEMBERS];
	MPI_Aint at[MEMBERS];
	int len[MEMBERS];
	bool same = true;

	for (int i = 0; i < parts; i++) {
		types[i] = part[i]->type;
		at[i] = address[i];
		len[i] = 1;
		same = same && part[i] == part[0];
		put(t, part[i], address[i], 1);
	}
	if (same && rnd(r, 2))
		MPI_Type_create_hindexed(parts, len, at, types[0], &t->type);
	else if (same)
		MPI_Type_create_hindexed_block(parts, 1, at, types[0],
					       &t->type);
	else
		MPI_Type_create_struct(parts, len, at, types, &t->type);
	for (int i = 0; i < parts; i++)
		if (i == 0 || part[i] != part[0])
			rtype_free(part[i]);
	return made(t);
}
