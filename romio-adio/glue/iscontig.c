/* SPDX-License-Identifier: BSD-2-Clause */
/* iscontig.c - whether a data type is one piece of memory, in order. */
#include <stdbool.h>

#include <adio.h>

/* Returns true if the type has every byte from 0 to its extent, perhaps not in order. */
static bool is_dense(MPI_Datatype type, MPI_Count size)
{
	MPI_Count lb, extent, true_lb, true_extent;

	PMPI_Type_get_extent_x(type, &lb, &extent);
	PMPI_Type_get_true_extent_x(type, &true_lb, &true_extent);
	return lb == 0 && true_lb == 0 && size == extent && size == true_extent;
}

/*
 * MPICH's own answer, computed from the list that accesses use, so that the two never
 * differ.  One exception: a type that does not begin at 0, because ROMIO would treat it
 * as beginning there.  A type of size 0 counts as contiguous.
 */
void MPIR_Datatype_iscontig(MPI_Datatype type, int *flag)
{
	const ADIOI_Flatlist_node *node;
	MPI_Count size;

	PMPI_Type_size_x(type, &size);
	*flag = size == 0;
	if (*flag || !is_dense(type, size))
		return;
	node = ADIOI_Flatten_and_find(type);
	*flag = node->count == 1 && node->indices[0] == 0;
}
