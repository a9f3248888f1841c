/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * text.h - a string that grows, up to a limit.  Names from files and clients may have any bytes.
 * When such a name is appended, bytes that are not UTF-8 become U+FFFD, and the characters that
 * are special in the output are escaped.  As the value of a label of Prometheus:
 *
 *	a " b     becomes     a \" b
 *	a \ b     becomes     a \\ b
 *	a newline becomes     \n
 */
#ifndef EXPORTER_TEXT_H
#define EXPORTER_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#define TEXT_MAX (32u << 20)

struct text_buffer {
	char *s; /* ends with a 0; NULL: empty */
	size_t len, room;
	bool failed; /* no memory, or TEXT_MAX reached: later text is dropped */
};

void text_free(struct text_buffer *t);
void text_add(struct text_buffer *t, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/*
 * Adds the value of a label, without its quotes; a byte that is no UTF-8 becomes
 * U+FFFD.
 */
void text_label(struct text_buffer *t, const char *value);
/* Adds the help text of a metric.  As text_label(), but does not escape quotes. */
void text_help(struct text_buffer *t, const char *help);
#endif
