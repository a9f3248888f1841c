/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * flatten.c - data types as lists of blocks, replacing ROMIO's adio/common/flatten.c.
 * That file has errors:
 * - It loses blocks of indexed types whose elements have bounds of their own (subarrays,
 *   resized types), and of those whose first length is 0.
 * - It moves resized types by their lower bound.
 * - It treats MPI_SHORT_INT as one piece.
 *
 * A list is made once, and stored with its type as an attribute.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <adio.h>
#include <adio_extern.h>
#include "romio-adio/typemap.h"

int ADIOI_Flattened_type_keyval = MPI_KEYVAL_INVALID;

int ADIOI_Flattened_type_copy(MPI_Datatype type, int keyval, void *extra,
			      void *in, void *out, int *flag)
{
	ADIOI_Flatlist_node *node = in;

	node->refct++;
	*(ADIOI_Flatlist_node **)out = node;
	*flag = 1;
	return MPI_SUCCESS;
}

int ADIOI_Flattened_type_delete(MPI_Datatype type, int keyval, void *value,
				void *extra)
{
	ADIOI_Flatlist_node *node = value;

	if (--node->refct == 0) {
		free(node->blocklens);
		free(node);
	}
	return MPI_SUCCESS;
}

/* Returns the properties of the list that MPI does not permit in a view. */
static int flags_of(const struct blocks *b)
{
	int flags = 0;
	size_t i;

	for (i = 0; i < b->n; i++) {
		if (b->at[i] < 0)
			flags |= ADIOI_TYPE_NEGATIVE;
		if (i && b->at[i - 1] > b->at[i])
			flags |= ADIOI_TYPE_DECREASE;
		if (i && b->at[i - 1] + b->len[i - 1] > b->at[i])
			flags |= ADIOI_TYPE_OVERLAP;
	}
	return flags;
}

/* Makes ROMIO's list.  ROMIO needs a block in every list, so an empty list gets one of 0 bytes. */
static ADIOI_Flatlist_node *node_of(MPI_Datatype type, const struct blocks *b)
{
	const size_t n = b->n ? b->n : 1;
	ADIOI_Flatlist_node *node = calloc(1, sizeof(*node));
	ADIO_Offset *lists = calloc(2 * n, sizeof(*lists));

	if (!node || !lists) {
		free(lists);
		free(node);
		return NULL;
	}
	if (b->n) {
		memcpy(lists, b->len, b->n * sizeof(*lists));
		memcpy(lists + n, b->at, b->n * sizeof(*lists));
	}
	*node = (ADIOI_Flatlist_node){ .type = type,
				       .count = (MPI_Count)n,
				       .blocklens = lists,
				       .indices = lists + n,
				       .lb_idx = -1,
				       .ub_idx = -1,
				       .refct = 1,
				       .flag = flags_of(b) };
	return node;
}

/* Ends the program, because ROMIO handles no failure here. */
static void give_up(int err)
{
	FPRINTF(stderr, "libmpio-pvfs: cannot take a data type apart: %s\n",
		strerror(-err));
	MPI_Abort(MPI_COMM_WORLD, 1);
}

static ADIOI_Flatlist_node *flatten_type(MPI_Datatype type)
{
	ADIOI_Flatlist_node *node = NULL;
	struct blocks b = { 0 };
	int err = typemap_add(&b, type);

	if (!err)
		node = node_of(type, &b);
	blocks_free(&b);
	if (!node)
		give_up(err ? err : -ENOMEM);
	return node;
}

ADIOI_Flatlist_node *ADIOI_Flatten_and_find(MPI_Datatype type)
{
	ADIOI_Flatlist_node *node;
	int found;

	/* ROMIO frees it when MPI ends */
	if (ADIOI_Flattened_type_keyval == MPI_KEYVAL_INVALID)
		MPI_Type_create_keyval(ADIOI_Flattened_type_copy,
				       ADIOI_Flattened_type_delete,
				       &ADIOI_Flattened_type_keyval, NULL);
	MPI_Type_get_attr(type, ADIOI_Flattened_type_keyval, &node, &found);
	if (found)
		return node;
	node = flatten_type(type);
	MPI_Type_set_attr(type, ADIOI_Flattened_type_keyval, node);
	return node;
}

ADIOI_Flatlist_node *ADIOI_Flatten_datatype(MPI_Datatype type)
{
	return ADIOI_Flatten_and_find(type);
}
