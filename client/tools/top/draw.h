/* SPDX-License-Identifier: BSD-2-Clause */
/* draw.h - what was gathered as lines. */
#ifndef TOP_DRAW_H
#define TOP_DRAW_H

#include <stdio.h>

#include "client/tools/top/gather.h"
#include "client/tools/owners.h"

struct page {
	unsigned int rows, columns; /* 0: as many as there are */
	const char *end; /* of a line */
	struct owners *owners;
};

/* No byte in it but what prints, and page->end. */
void draw(FILE *out, const struct page *page, const struct top *top);

#endif
