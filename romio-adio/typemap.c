/* SPDX-License-Identifier: BSD-2-Clause */
/* typemap.c - see typemap.h. */
#include "romio-adio/typemap.h"

#include <errno.h>
#include <stdlib.h>

/* ---- how a type was constructed ---- */

/* How a type was constructed.  The numbers are those of the constructor, in order. */
struct contents {
	int combiner;
	int64_t *number; /* counts, lengths, ... */
	/* byte displacements, if the constructor takes them apart from the other numbers */
	MPI_Aint *addr;
	MPI_Datatype *type;
	MPI_Count numbers, addrs, types;
	MPI_Count ints; /* the first ints numbers were passed as int */
	void *memory;
};

/* True: a predefined type, which must not be freed. */
static bool is_basic(MPI_Datatype type)
{
	MPI_Count ints, addrs, counts, types;
	int combiner;

	PMPI_Type_get_envelope_c(type, &ints, &addrs, &counts, &types,
				 &combiner);
	return combiner == MPI_COMBINER_NAMED || types == 0;
}

/* One allocation for all lists, each at least one entry long. */
static int alloc_lists(struct contents *c, MPI_Count ints, MPI_Count counts,
		       int **in, MPI_Count **cn)
{
	size_t n = (size_t)(2 * ints + 2 * counts + c->addrs + c->types + 6);
	int64_t *at = calloc(n, sizeof(*at));

	if (!at)
		return -ENOMEM;
	c->memory = at;
	c->number = at;
	at += ints + counts + 1;
	c->addr = at;
	at += c->addrs + 1;
	*cn = (MPI_Count *)at;
	at += counts + 1;
	c->type = (MPI_Datatype *)at;
	at += c->types + 1;
	*in = (int *)at;
	return 0;
}

/*
 * Gets the contents of a type.  Constructors with large counts pass some numbers as int and all
 * others as MPI_Count.  In c, the latter follow the former.
 */
static int contents_get(struct contents *c, MPI_Datatype type)
{
	MPI_Count ints, counts, *cn, i;
	int *in;

	PMPI_Type_get_envelope_c(type, &ints, &c->addrs, &counts, &c->types,
				 &c->combiner);
	if (alloc_lists(c, ints, counts, &in, &cn))
		return -ENOMEM;
	c->ints = ints;
	c->numbers = ints + counts;
	if (c->combiner == MPI_COMBINER_NAMED)
		return 0;
	PMPI_Type_get_contents_c(type, ints, c->addrs, counts, c->types, in,
				 c->addr, cn, c->type);
	for (i = 0; i < ints; i++)
		c->number[i] = in[i];
	for (i = 0; i < counts; i++)
		c->number[ints + i] = cn[i];
	return 0;
}

static void contents_free(struct contents *c)
{
	MPI_Count i;

	for (i = 0; i < c->types; i++)
		if (!is_basic(c->type[i]))
			PMPI_Type_free(&c->type[i]);
	free(c->memory);
}

/* ---- arrays ---- */

/* The selected indices of one dimension: runs of len indices, with starts step apart. */
struct dim {
	int64_t size;
	int64_t first, len, step, end; /* end is exclusive */
};

/* Constructors with large counts pass sizes after all numbers of type int. */
static bool is_large(const struct contents *c)
{
	return c->ints < c->numbers;
}

static bool select_subarray(struct dim *dim, const struct contents *c,
			    int64_t dims)
{
	const int64_t *size = c->number + (is_large(c) ? c->ints : 1);
	const int64_t *sub = size + dims, *start = sub + dims;
	int64_t i;

	for (i = 0; i < dims; i++)
		dim[i] = (struct dim){ size[i], start[i], sub[i], size[i],
				       start[i] + sub[i] };
	return c->number[is_large(c) ? 1 : 1 + 3 * dims] == MPI_ORDER_C;
}

/* Returns the share of process number `place` of `count` processes in one dimension of a darray. */
static struct dim share_of_process(int64_t size, int64_t how, int64_t arg,
				   int64_t count, int64_t place)
{
	if (how == MPI_DISTRIBUTE_NONE)
		return (struct dim){ size, 0, size, size, size };
	if (arg == MPI_DISTRIBUTE_DFLT_DARG)
		arg = how == MPI_DISTRIBUTE_BLOCK ? (size + count - 1) / count
						  : 1;
	return (struct dim){ size, place * arg, arg, count * arg, size };
}

static bool select_darray(struct dim *dim, const struct contents *c,
			  int64_t dims)
{
	const int64_t *size = c->number + (is_large(c) ? c->ints : 3);
	const int64_t *how = c->number + (is_large(c) ? 3 : 3 + dims);
	const int64_t *arg = how + dims, *procs = arg + dims;
	int64_t i, rank = c->number[1], left = c->number[0];

	for (i = 0; i < dims; i++) {
		left /= procs[i];
		dim[i] = share_of_process(size[i], how[i], arg[i], procs[i],
					  rank / left);
		rank %= left;
	}
	return procs[dims] == MPI_ORDER_C;
}

/* Adds `what` once for each selected index, spaced by stride. */
static int add_dim(struct blocks *b, const struct dim *dim,
		   const struct blocks *what, int64_t stride)
{
	int64_t at;
	int err = 0;

	for (at = dim->first; at < dim->end && dim->step > 0 && !err;
	     at += dim->step)
		err = blocks_repeat(b, what, at * stride,
				    min_int64(dim->len, dim->end - at), stride);
	return err;
}

/* Adds all dimensions, beginning with the one whose indices are adjacent in memory. */
static int add_dims(struct blocks *b, const struct dim *dim, int64_t dims,
		    bool last_first, const struct blocks *element,
		    int64_t stride)
{
	struct blocks plane = { 0 }, line = { 0 };
	int err = blocks_repeat(&plane, element, 0, 1, 0);
	int64_t i;

	for (i = 0; i < dims && !err; i++) {
		const struct dim *d = &dim[last_first ? dims - 1 - i : i];

		line = plane;
		plane = (struct blocks){ 0 };
		err = add_dim(&plane, d, &line, stride);
		blocks_free(&line);
		stride *= d->size;
	}
	if (!err)
		err = blocks_repeat(b, &plane, 0, 1, 0);
	blocks_free(&plane);
	return err;
}

/* As typemap_add(), for a subarray or darray of elements whose bytes are given. */
static int typemap_array(struct blocks *b, const struct contents *c,
			 const struct blocks *element, int64_t extent)
{
	const bool part = c->combiner == MPI_COMBINER_SUBARRAY;
	const int64_t dims = c->number[part ? 0 : 2];
	struct dim *dim = calloc((size_t)dims + 1, sizeof(*dim));
	bool last_first;
	int err;

	if (!dim)
		return -ENOMEM;
	last_first = part ? select_subarray(dim, c, dims)
			  : select_darray(dim, c, dims);
	err = add_dims(b, dim, dims, last_first, element, extent);
	free(dim);
	return err;
}

/* ---- members ---- */

/* Contiguous copies of one type. */
struct member {
	int64_t copies;
	int64_t at;
};

/* Adds a value followed by an int.  MPI_SHORT_INT has a gap between them. */
static int add_pair(struct blocks *b, int64_t size, int64_t extent)
{
	const int64_t last = sizeof(int);
	int err = blocks_add(b, 0, size - last);

	return err ? err : blocks_add(b, extent - last, last);
}

static int add_basic(struct blocks *b, MPI_Datatype type)
{
	MPI_Count size, lb, extent;

	PMPI_Type_size_x(type, &size);
	PMPI_Type_get_true_extent_x(type, &lb, &extent);
	if (size < extent)
		return add_pair(b, size, extent);
	return blocks_add(b, 0, size);
}

/* Displacement i in bytes.  If it was passed as a number, it follows the other numbers. */
static int64_t displacement_of(const struct contents *c, int64_t i,
			       int64_t before)
{
	return c->addrs ? c->addr[i] : c->number[before + i];
}

static int64_t count_members(const struct contents *c)
{
	switch (c->combiner) {
	case MPI_COMBINER_DUP:
	case MPI_COMBINER_RESIZED:
	case MPI_COMBINER_CONTIGUOUS:
		return 1;
	default:
		return c->number[0];
	}
}

static struct member repeated_at(const struct contents *c, int64_t i,
				 int64_t extent)
{
	const int64_t *v = c->number;

	switch (c->combiner) {
	case MPI_COMBINER_CONTIGUOUS:
		return (struct member){ v[0], 0 };
	case MPI_COMBINER_VECTOR:
		return (struct member){ v[1], i * v[2] * extent };
	case MPI_COMBINER_HVECTOR:
	case MPI_COMBINER_HVECTOR_INTEGER:
		return (struct member){ v[1], i * displacement_of(c, 0, 2) };
	default: /* the type itself, or one that only changes the bounds */
		return (struct member){ 1, 0 };
	}
}

static struct member member_at(const struct contents *c, int64_t i,
			       int64_t extent)
{
	const int64_t *v = c->number, n = v[0];

	switch (c->combiner) {
	case MPI_COMBINER_INDEXED:
		return (struct member){ v[1 + i], v[1 + n + i] * extent };
	case MPI_COMBINER_HINDEXED:
	case MPI_COMBINER_HINDEXED_INTEGER:
	case MPI_COMBINER_STRUCT:
	case MPI_COMBINER_STRUCT_INTEGER:
		return (struct member){ v[1 + i],
					displacement_of(c, i, 1 + n) };
	case MPI_COMBINER_INDEXED_BLOCK:
		return (struct member){ v[1], v[2 + i] * extent };
	case MPI_COMBINER_HINDEXED_BLOCK:
		return (struct member){ v[1], displacement_of(c, i, 2) };
	default:
		return repeated_at(c, i, extent);
	}
}

static int64_t extent_of(MPI_Datatype type)
{
	MPI_Count lb, extent;

	PMPI_Type_get_extent_x(type, &lb, &extent);
	return extent;
}

static int add_struct(struct blocks *b, const struct contents *c)
{
	const int64_t n = count_members(c);
	int err = 0;

	for (int64_t i = 0; i < n && !err; i++) {
		const struct member m = member_at(c, i, 0);
		struct blocks one = { 0 };

		if (m.copies > 0)
			err = typemap_add(&one, c->type[i]);
		if (!err)
			err = blocks_repeat(b, &one, m.at, m.copies,
					    extent_of(c->type[i]));
		blocks_free(&one);
	}
	return err;
}

static int add_members(struct blocks *b, const struct contents *c,
		       const struct blocks *one, int64_t extent)
{
	const int64_t n = count_members(c);
	int err = 0;

	for (int64_t i = 0; i < n && !err; i++) {
		const struct member m = member_at(c, i, extent);

		err = blocks_repeat(b, one, m.at, m.copies, extent);
	}
	return err;
}

/* Adds the bytes of a type that is made of one other type. */
static int add_of_one(struct blocks *b, const struct contents *c)
{
	const int64_t extent = extent_of(c->type[0]);
	struct blocks one = { 0 };
	int err = typemap_add(&one, c->type[0]);

	if (!err && (c->combiner == MPI_COMBINER_SUBARRAY ||
		     c->combiner == MPI_COMBINER_DARRAY))
		err = typemap_array(b, c, &one, extent);
	else if (!err)
		err = add_members(b, c, &one, extent);
	blocks_free(&one);
	return err;
}

static int add_contents(struct blocks *b, const struct contents *c)
{
	switch (c->combiner) {
	case MPI_COMBINER_STRUCT:
	case MPI_COMBINER_STRUCT_INTEGER:
		return add_struct(b, c);
	case MPI_COMBINER_DUP:
	case MPI_COMBINER_RESIZED:
	case MPI_COMBINER_CONTIGUOUS:
	case MPI_COMBINER_VECTOR:
	case MPI_COMBINER_HVECTOR:
	case MPI_COMBINER_HVECTOR_INTEGER:
	case MPI_COMBINER_INDEXED:
	case MPI_COMBINER_HINDEXED:
	case MPI_COMBINER_HINDEXED_INTEGER:
	case MPI_COMBINER_INDEXED_BLOCK:
	case MPI_COMBINER_HINDEXED_BLOCK:
	case MPI_COMBINER_SUBARRAY:
	case MPI_COMBINER_DARRAY:
		return add_of_one(b, c);
	default:
		return -EINVAL;
	}
}

int typemap_add(struct blocks *b, MPI_Datatype type)
{
	struct contents c;
	int err = contents_get(&c, type);

	if (err)
		return err;
	/*
	 * the list is empty for predefined types, and for types that a Fortran program requested by
	 * range
	 */
	err = c.types == 0 ? add_basic(b, type) : add_contents(b, &c);
	contents_free(&c);
	return err;
}
