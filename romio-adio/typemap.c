/* SPDX-License-Identifier: BSD-2-Clause */
/* typemap.c - see typemap.h. */
#include <errno.h>

#include "romio-adio/typemap.h"

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
	default: /* the type itself, or with other bounds */
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

/* For a type that is made of one other type. */
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
	/* predefined types, and those that a Fortran program requested by range */
	err = c.types == 0 ? add_basic(b, type) : add_contents(b, &c);
	contents_free(&c);
	return err;
}
