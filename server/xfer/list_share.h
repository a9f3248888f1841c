/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * list_share.h - the iod's share of a list request: turns file pieces, described by regular
 * vectors, into pieces of the object.  Pure functions.
 */
#ifndef LIST_SHARE_H
#define LIST_SHARE_H

#include "server/store/store_engine.h"
#include "common/wire/wire.h"

/* The number of pieces that a checked request describes; seg of list_share_expand() needs room for
 * them. */
size_t list_share_pieces(const struct wire_list *list,
			 const struct wire_vec *vec);
/*
 * Fills seg with pieces of the object, in the order of the list.  They cover io.total bytes of
 * the iod's share, after its first skip bytes.  Adjacent pieces become one.  0: *nseg is their
 * number.  -EPROTO: the share is shorter.
 */
int list_share_expand(const struct wire_list *list, const struct wire_vec *vec,
		      struct store_seg *seg, unsigned int *nseg);

#endif
