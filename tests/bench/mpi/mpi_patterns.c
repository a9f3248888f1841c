/* SPDX-License-Identifier: BSD-2-Clause */
/* mpi_patterns.c - the data that the ranks of each program move. */
#include <stdlib.h>
#include <string.h>

#include "tests/bench/mpi/mpi_bench.h"

#define TILE_X 1024
#define TILE_Y 768
#define BT_CELL 40 /* five doubles */
#define BT_GHOST 2 /* cells around each block in memory */

static int root(int n)
{
	int q = 1;

	while ((q + 1) * (q + 1) <= n)
		q++;
	return q;
}

static MPI_Datatype committed(MPI_Datatype type)
{
	MPI_Type_commit(&type);
	return type;
}

static MPI_Datatype bytes_of(int n)
{
	MPI_Datatype type;

	MPI_Type_contiguous(n, MPI_BYTE, &type);
	return committed(type);
}

/* Returns the type of a part of an array; the last index varies fastest. */
static MPI_Datatype part(int dims, const int *all, const int *some,
			 const int *from, int elem)
{
	MPI_Datatype element = bytes_of(elem), type;

	MPI_Type_create_subarray(dims, all, some, from, MPI_ORDER_C, element,
				 &type);
	MPI_Type_free(&element);
	return committed(type);
}

/*
 * The pattern of mpi-tile-io (ICPP 2003, section 6.5): a wall of displays, two in a row, one for
 * each rank.  With gaps in memory, a display is part of an array of twice its width.
 */
void tile_pattern(const struct options *o, struct pattern *p)
{
	const int across = o->ranks > 1 ? 2 : 1;
	const int down = (o->ranks + across - 1) / across;
	const int all[] = { down * TILE_Y, across * TILE_X };
	const int some[] = { TILE_Y, TILE_X }, none[] = { 0, 0 };
	const int from[] = { o->rank / across * TILE_Y,
			     o->rank % across * TILE_X };
	const int wide[] = { TILE_Y, o->strided ? 2 * TILE_X : TILE_X };

	p->view = part(2, all, some, from, o->elem);
	p->memory = part(2, wide, some, none, o->elem);
	p->bytes = TILE_X * TILE_Y * o->elem;
	p->buf = memory((size_t)wide[0] * (size_t)wide[1] * (size_t)o->elem);
	p->steps = 1;
}

/* Joins blocks of several types, at their places, to one type. */
static MPI_Datatype joined(int n, MPI_Datatype *types, MPI_Aint *places)
{
	int *ones = memory((size_t)n * sizeof(*ones)), i;
	MPI_Datatype type;

	for (i = 0; i < n; i++)
		ones[i] = 1;
	MPI_Type_create_struct(n, ones, places, types, &type);
	for (i = 0; i < n; i++)
		MPI_Type_free(&types[i]);
	free(ones);
	return committed(type);
}

/*
 * The pattern of BT-IO of the NAS benchmarks.  q * q ranks share a cube by multipartitioning: each
 * has q cells, one in each layer, on a diagonal.  Each step appends the whole cube.  With gaps in
 * memory, a cell has a border.
 */
void bt_pattern(const struct options *o, struct pattern *p)
{
	const int q = root(o->ranks), m = o->grid / q;
	const int all[] = { m * q, m * q, m * q }, some[] = { m, m, m };
	const int edge = o->strided ? BT_GHOST : 0, side = m + 2 * edge;
	const int cell[] = { side, side, side }, in[] = { edge, edge, edge };
	const MPI_Aint len = (MPI_Aint)side * side * side * BT_CELL;
	MPI_Datatype *file = memory((size_t)q * sizeof(*file));
	MPI_Datatype *mem = memory((size_t)q * sizeof(*mem));
	MPI_Aint *zero = memory((size_t)q * sizeof(*zero));
	MPI_Aint *place = memory((size_t)q * sizeof(*place));
	int c;

	if (q * q != o->ranks)
		die("bt needs a square number of ranks");
	for (c = 0; c < q; c++) {
		const int from[] = { c * m, (o->rank / q + c) % q * m,
				     (o->rank % q + c) % q * m };

		file[c] = part(3, all, some, from, BT_CELL);
		mem[c] = part(3, cell, some, in, BT_CELL);
		place[c] = c * len;
	}
	p->view = joined(q, file, zero);
	p->memory = joined(q, mem, place);
	p->bytes = q * m * m * m * BT_CELL;
	p->buf = memory((size_t)(q * len));
	p->steps = o->steps;
	p->next = p->bytes;
	p->cells = q;
	p->side = side;
	free(file);
	free(mem);
	free(zero);
	free(place);
}

/*
 * Blocks of the ranks in turn: of 4 MiB, as PVFS2 was measured over Quadrics, or with the size of
 * IO500.
 */
void block_pattern(const struct options *o, struct pattern *p)
{
	p->view = MPI_BYTE;
	p->memory = bytes_of(o->block);
	p->bytes = o->block;
	p->buf = memory((size_t)o->block);
	p->steps = o->steps;
	p->first = (MPI_Offset)o->rank * o->block;
	p->next = (MPI_Offset)o->ranks * o->block;
}
