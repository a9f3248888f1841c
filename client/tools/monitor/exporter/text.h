/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * text.h - a text that grows, up to a limit.  Text from others within it is made UTF-8,
 * and escaped for its place.
 *
 *	bytes from elsewhere      a"b\c NEWLINE 0xff
 *	a label of Prometheus     a\"b\\c\n U+FFFD
 */
#ifndef EXPORTER_TEXT_H
#define EXPORTER_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#define TEXT_MAX (32u << 20)

struct text_buffer {
	char *s; /* ends with a 0; NULL: empty */
	size_t len, room;
	bool failed; /* no memory, or TEXT_MAX: later text is left out */
};

void text_free(struct text_buffer *t);
void text_add(struct text_buffer *t, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/*
 * Adds the value of a label, without its quotes; a byte that is no UTF-8 becomes
 * U+FFFD.
 */
void text_label(struct text_buffer *t, const char *value);
/* Adds the help of a metric; the same without the escape of quotes. */
void text_help(struct text_buffer *t, const char *help);
#endif
