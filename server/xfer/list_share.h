/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * list_share.h - the iod's share of a list request: turns file pieces, described by regular
 * vectors, into pieces of the object.  Pure functions.
 */
#ifndef LIST_SHARE_H
#define LIST_SHARE_H

#include "server/store/store_engine.h"
#include "common/wire/wire.h"

/*
 * The number of pieces that a list request describes.  The request has been checked.  seg of
 * list_share_expand() needs room for as many.
 */
size_t list_share_pieces(const struct wire_list *list,
			 const struct wire_vec *vec);
/*
 * Fills seg with the pieces of the object, in the order of the request.  They cover
 * list->io.total bytes of the iod's share, after its first list->skip bytes.  Adjacent pieces
 * become one.  After 0 *nseg is their number.  -EPROTO: the share has fewer bytes than the
 * request says.
 */
int list_share_expand(const struct wire_list *list, const struct wire_vec *vec,
		      struct store_seg *seg, unsigned int *nseg);

#endif
