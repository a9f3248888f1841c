/* SPDX-License-Identifier: BSD-2-Clause */
/* contents.c - how a data type was constructed; see typemap.h. */
#include <errno.h>
#include <stdlib.h>

#include "romio-adio/typemap.h"

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
 * Calls with large counts pass some numbers as int, and all others as MPI_Count.  Here,
 * the latter follow the former.
 */
int contents_get(struct contents *c, MPI_Datatype type)
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

void contents_free(struct contents *c)
{
	MPI_Count i;

	for (i = 0; i < c->types; i++)
		if (!is_basic(c->type[i]))
			PMPI_Type_free(&c->type[i]);
	free(c->memory);
}
