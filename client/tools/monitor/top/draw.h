/* SPDX-License-Identifier: BSD-2-Clause */
/* draw.h - prints the page of pvfs-top from the data that gather.h collected. */
#ifndef TOP_DRAW_H
#define TOP_DRAW_H

#include <stdio.h>

#include "client/tools/monitor/top/gather.h"
#include "client/tools/common/owner_names.h"

struct top_page {
	unsigned int rows, columns; /* 0: no limit */
	const char *end; /* end of a line */
	struct owner_names *owners;
};

/* Writes the page to out: printable characters only, and page->end after each line. */
void draw(FILE *out, const struct top_page *page, const struct top *top);

#endif
