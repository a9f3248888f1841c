/* SPDX-License-Identifier: BSD-2-Clause */
/* iscontig.c - is a data type one piece of memory, in order? */
#include <stdbool.h>

#include "mpir_ext.h"

/* Every byte from 0 to the extent, though perhaps not in order. */
static bool is_dense(MPI_Datatype type, MPI_Count size)
{
	MPI_Count lb, extent, true_lb, true_extent;

	PMPI_Type_get_extent_x(type, &lb, &extent);
	PMPI_Type_get_true_extent_x(type, &true_lb, &true_extent);
	return lb == 0 && true_lb == 0 && size == extent && size == true_extent;
}

/* The type that a combiner of one integer repeats; false: another combiner. */
static bool inner_type(MPI_Datatype type, MPI_Datatype *inner, bool *named)
{
	int nint, naddr, ntype, combiner, n;
	MPI_Aint none;

	PMPI_Type_get_envelope(type, &nint, &naddr, &ntype, &combiner);
	*named = combiner == MPI_COMBINER_NAMED;
	if (combiner != MPI_COMBINER_CONTIGUOUS && combiner != MPI_COMBINER_DUP)
		return false;
	PMPI_Type_get_contents(type, nint, naddr, ntype, &n, &none, inner);
	return true;
}

static void inner_free(MPI_Datatype type)
{
	int nint, naddr, ntype, combiner;

	PMPI_Type_get_envelope(type, &nint, &naddr, &ntype, &combiner);
	if (combiner != MPI_COMBINER_NAMED)
		PMPI_Type_free(&type);
}

/*
 * "No" for a type that is contiguous after all (a vector without gaps) costs
 * a flattening; "yes" for one that is not would cost data.  A type of size 0
 * counts as contiguous, or flattening repeats the list of the type before it.
 */
void MPIR_Datatype_iscontig(MPI_Datatype type, int *flag)
{
	MPI_Datatype inner;
	MPI_Count size;
	bool named;

	PMPI_Type_size_x(type, &size);
	*flag = size == 0;
	if (*flag || !is_dense(type, size))
		return;
	if (!inner_type(type, &inner, &named)) {
		*flag = named;
		return;
	}
	MPIR_Datatype_iscontig(inner, flag);
	inner_free(inner);
}
