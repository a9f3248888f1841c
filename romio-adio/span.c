/* SPDX-License-Identifier: BSD-2-Clause */
/* span.c - see span.h. */
#include <stdlib.h>

#include "romio-adio/span.h"

static bool is_named(MPI_Datatype type)
{
	int ni, na, nt, combiner;

	PMPI_Type_get_envelope(type, &ni, &na, &nt, &combiner);
	return combiner == MPI_COMBINER_NAMED;
}

static bool one_array(MPI_Datatype type);

/* For a combiner that repeats one type. */
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

struct span span_of(const void *buf, int count, MPI_Datatype type)
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

void span_hints(const struct span *span, const struct pieces *mem, char **hint,
		size_t *hint_len)
{
	size_t i;

	for (i = 0; i < mem->n; i++) {
		hint[i] = (char *)(intptr_t)span->start;
		hint_len[i] = (size_t)span->len;
	}
}
