/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * text.h - a text that grows, up to a bound, and what others wrote within it: made
 * UTF-8, and escaped for where it stands.
 *
 *	bytes from elsewhere      a"b\c NEWLINE 0xff
 *	a label of Prometheus     a\"b\\c\n U+FFFD
 */
#ifndef EXPORTER_TEXT_H
#define EXPORTER_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#define TEXT_MAX (32u << 20)

struct text {
	char *s; /* ends with a 0; NULL: empty */
	size_t len, room;
	bool failed; /* no memory, or TEXT_MAX: what follows is left out */
};

void text_free(struct text *t);
void text_add(struct text *t, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* The value of a label, without its quotes. */
void text_label(struct text *t, const char *value);
/* As it is, but that bytes which are no UTF-8 become U+FFFD each. */
void text_utf8(struct text *t, const char *s);
/*
 * How many bytes of s the character there takes, 1 to 4; 0: it is none that UTF-8
 * has (RFC 3629: nothing longer than it need be, no surrogate, nothing beyond U+10FFFF).
 */
unsigned int text_char(const char *s);

#endif
