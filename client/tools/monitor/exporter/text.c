/* SPDX-License-Identifier: BSD-2-Clause */
/* text.c - see text.h. */
#include "client/tools/monitor/exporter/text.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/json/utf8.h"

#define NO_CHARACTER "\xef\xbf\xbd" /* U+FFFD */

void text_free(struct text_buffer *t)
{
	free(t->s);
	*t = (struct text_buffer){ 0 };
}

/* Makes room for len more bytes and the final 0. */
static bool has_room(struct text_buffer *t, size_t len)
{
	size_t want = t->len + len + 1, room = t->room ? t->room : 4096;
	char *s;

	if (t->failed || want <= t->room)
		return !t->failed;
	while (room < want)
		room *= 2;
	s = room > TEXT_MAX ? NULL : realloc(t->s, room);
	t->failed = !s;
	if (!s)
		return false;
	t->s = s;
	t->room = room;
	return true;
}

static void add_bytes(struct text_buffer *t, const char *s, size_t len)
{
	if (!has_room(t, len))
		return;
	memcpy(t->s + t->len, s, len);
	t->len += len;
	t->s[t->len] = '\0';
}

void text_add(struct text_buffer *t, const char *fmt, ...)
{
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (len < 0 || !has_room(t, (size_t)len))
		return;
	va_start(ap, fmt);
	vsnprintf(t->s + t->len, (size_t)len + 1, fmt, ap);
	va_end(ap);
	t->len += (size_t)len;
}

static void add_char(struct text_buffer *t, const char *s, size_t n)
{
	if (n)
		add_bytes(t, s, n);
	else
		add_bytes(t, NO_CHARACTER, sizeof(NO_CHARACTER) - 1);
}

static void add_escaped(struct text_buffer *t, const char *value, bool quotes)
{
	while (*value) {
		size_t n = utf8_char(value);

		if (*value == '\n')
			add_bytes(t, "\\n", 2);
		else if ((quotes && *value == '"') || *value == '\\')
			text_add(t, "\\%c", *value);
		else
			add_char(t, value, n);
		value += n ? n : 1;
	}
}

void text_label(struct text_buffer *t, const char *value)
{
	add_escaped(t, value, true);
}

void text_help(struct text_buffer *t, const char *help)
{
	add_escaped(t, help, false);
}
