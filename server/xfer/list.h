/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * list.h - an iod's share of a list request: from the pieces of a file, that
 * regular vectors describe, to pieces of the object.  Pure functions.
 */
#ifndef LIST_H
#define LIST_H

#include "server/store/store_engine.h"
#include "common/wire/wire.h"

/* Pieces that a checked request describes: room enough for list_expand(). */
size_t list_pieces(const struct wire_list *list, const struct wire_vec *vec);
/*
 * Fills seg with the pieces of the object, in the order of the list, that the
 * io.total bytes behind the first skip lie in; neighbours that touch are one.
 * 0 and their number in *nseg, or -EPROTO: the share is less than that.
 */
int list_expand(const struct wire_list *list, const struct wire_vec *vec,
		struct store_seg *seg, unsigned int *nseg);

#endif
