/* SPDX-License-Identifier: BSD-2-Clause */
/* prof_show.h - a profile as text, as JSON and as a picture. */
#ifndef PROF_SHOW_H
#define PROF_SHOW_H

#include <stdio.h>

#include "client/tools/monitor/profile/prof_advice.h"

/* most: limit of the files and processes that are shown. */
void prof_text(const struct prof *all, const struct advice_line *advice, int n,
	       size_t most);
struct json_object *prof_json(const struct prof *all,
			      const struct advice_line *advice, int n);
void prof_svg(const struct prof *all, FILE *out);

#endif
