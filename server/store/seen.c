/* SPDX-License-Identifier: BSD-2-Clause */
/* seen.c - the blocks that a read covered; blocks that are read repeatedly are shared. */
#include <errno.h>

#include "common/wire/block.h"
#include "server/store/store_engine.h"
#include "server/store/store_int.h"

/* A client looks for at most this many shared blocks per read. */
#define SEEN_MOST 8u

struct seen {
	struct store_obj *obj;
	uint64_t size;
	unsigned int left; /* blocks that may still be reported */
	uint64_t last; /* block reported last */
};

/* A reader may have opened the object before its removal.  A block of a removed object would
 * never be invalidated, so it must not be filled. */
static int read_block(void *arg, void *buf, uint64_t off)
{
	size_t done;
	int rc;

	if (store_obj_removed(arg))
		return -ESTALE;
	rc = store_obj_read_cached(arg, buf, WIRE_BLOCK, off, &done);
	return rc ? rc : (int)done;
}

/* A piece may end far beyond the object, and several pieces may lie in one block. */
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
