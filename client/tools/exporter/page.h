/* SPDX-License-Identifier: BSD-2-Clause */
/* page.h - page.html, as embed.py makes it a part of the program. */
#ifndef EXPORTER_PAGE_H
#define EXPORTER_PAGE_H

#include <stddef.h>

extern const unsigned char page_html[];
extern const size_t page_len;
/* Content-Security-Policy: what stands in it may run and be shown, and nothing else. */
extern const char page_policy[];

#endif
