/* SPDX-License-Identifier: BSD-2-Clause */
/* page.h - page.html, which embed.py makes a part of the program. */
#ifndef EXPORTER_PAGE_H
#define EXPORTER_PAGE_H

#include <stddef.h>

extern const unsigned char page_html[];
extern const size_t page_len;
/*
 * The Content-Security-Policy of the page: only what the page itself contains may run and be shown.
 */
extern const char page_policy[];

#endif
