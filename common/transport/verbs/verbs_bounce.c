/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * verbs_bounce.c - registered memory for messages that the device cannot gather: they have more
 * pieces than it accepts, or unregistered ones. Each cq keeps a bounded number of bytes for reuse.
 */
#include <stdlib.h>

#include "common/transport/verbs/verbs.h"

#define SMALLEST 4096u
#define KEPT_BYTES (8ul << 20)

void vb_bounces_init(struct vb_bounces *b)
{
	unsigned int i;

	b->bytes = 0;
	for (i = 0; i < VB_CLASSES; i++)
		SLIST_INIT(&b->spare[i]);
}

static void bounce_free(struct vb_bounce *b)
{
	ibv_dereg_mr(b->mr);
	free(b->mem);
	free(b);
}

void vb_bounces_close(struct vb_bounces *all)
{
	struct vb_bounce *b;
	unsigned int i;

	for (i = 0; i < VB_CLASSES; i++) {
		while ((b = SLIST_FIRST(&all->spare[i]))) {
			SLIST_REMOVE_HEAD(&all->spare[i], link);
			bounce_free(b);
		}
	}
}

static struct vb_bounce *bounce_new(struct vb_cq *cq, unsigned int class)
{
	struct vb_bounce *b = malloc(sizeof(*b));
	size_t len = (size_t)SMALLEST << class;

	if (!b)
		return NULL;
	b->class = class;
	b->mem = aligned_alloc(SMALLEST, len);
	if (!b->mem)
		goto free_bounce;
	b->mr = vb_pin(vb_dev(cq->cq.dev), b->mem, len, 0);
	if (b->mr)
		return b;
	free(b->mem);
free_bounce:
	free(b);
	return NULL;
}

struct vb_bounce *vb_bounce_get(struct vb_cq *cq, size_t len)
{
	struct vb_bounce *b;
	unsigned int class = 0;

	while (((size_t)SMALLEST << class) < len)
		class ++;
	if (class >= VB_CLASSES)
		return NULL;
	b = SLIST_FIRST(&cq->bounces.spare[class]);
	if (!b)
		return bounce_new(cq, class);
	SLIST_REMOVE_HEAD(&cq->bounces.spare[class], link);
	cq->bounces.bytes -= (size_t)SMALLEST << class;
	return b;
}

void vb_bounce_put(struct vb_cq *cq, struct vb_bounce *b)
{
	size_t len = (size_t)SMALLEST << b->class;

	if (cq->bounces.bytes + len > KEPT_BYTES) {
		bounce_free(b);
		return;
	}
	cq->bounces.bytes += len;
	SLIST_INSERT_HEAD(&cq->bounces.spare[b->class], b, link);
}
