/* SPDX-License-Identifier: BSD-2-Clause */
/* typemap_array.c - the part of an array that a type describes, see typemap.h. */
#include <errno.h>
#include <stdlib.h>

#include "romio-adio/typemap.h"

/* The selected indices of one dimension: runs of len indices, with starts step apart. */
struct dim {
	int64_t size;
	int64_t first, len, step, end; /* end is exclusive */
};

static int64_t min_int64(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

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

/* The share of process number place of count. */
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

/* Adds what, spaced by stride, once for each selected index. */
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

/* The dimension with adjacent indices comes first. */
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

int typemap_array(struct blocks *b, const struct contents *c,
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
