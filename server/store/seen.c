/* SPDX-License-Identifier: BSD-2-Clause */
/* seen.c - which blocks a read was about; what is read again and again is shared. */
#include <errno.h>

#include "common/wire/block.h"
#include "server/store/store_engine.h"
#include "server/store/store_int.h"

/* A client looks for no more of them in a read. */
#define SEEN_MOST 8u

struct seen {
	struct store_obj *obj;
	uint64_t size;
	unsigned int left; /* blocks that may still be looked at */
	uint64_t last; /* the one before */
};

/* A reader may have opened it before it was removed: nothing takes away what is filled now. */
static int read_block(void *arg, void *buf, uint64_t off)
{
	size_t done;
	int rc;

	if (store_obj_removed(arg))
		return -ESTALE;
	rc = store_obj_read_cached(arg, buf, WIRE_BLOCK, off, &done);
	return rc ? rc : (int)done;
}

/* Pieces may reach far behind the end of the object, or lie in one block. */
static void see_piece(struct seen *s, const struct store_seg *seg)
{
	uint64_t number, end;

	if (seg->off >= s->size)
		return;
	end = seg->len < s->size - seg->off ? seg->off + seg->len : s->size;
	for (number = seg->off / WIRE_BLOCK;
	     s->left && number * WIRE_BLOCK < end; number++) {
		if (number == s->last)
			continue;
		s->last = number;
		s->left--;
		share_seen(s->obj->store->share, s->obj->handle, number,
			   read_block, s->obj);
	}
}

void store_obj_seen(struct store_obj *obj, const struct store_seg *seg,
		    unsigned int n, uint64_t size)
{
	struct seen s = { obj, size, SEEN_MOST, UINT64_MAX };
	unsigned int i;

	if (!obj->store->share)
		return;
	for (i = 0; i < n && s.left; i++)
		see_piece(&s, &seg[i]);
}
