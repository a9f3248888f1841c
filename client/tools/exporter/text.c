/* SPDX-License-Identifier: BSD-2-Clause */
/* text.c - see text.h. */
#include "text.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NO_CHARACTER "\xef\xbf\xbd" /* U+FFFD */

void text_free(struct text *t)
{
	free(t->s);
	*t = (struct text){ 0 };
}

/* Room for len more and the 0. */
static bool has_room(struct text *t, size_t len)
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

static void add_bytes(struct text *t, const char *s, size_t len)
{
	if (!has_room(t, len))
		return;
	memcpy(t->s + t->len, s, len);
	t->len += len;
	t->s[t->len] = '\0';
}

void text_add(struct text *t, const char *fmt, ...)
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

/* How many bytes a character that begins so has, and what its first one holds of it. */
static unsigned int char_length(unsigned char first, uint32_t *code)
{
	static const struct {
		unsigned char mask, lead;
	} kinds[] = {
		{ 0x80, 0 }, { 0xe0, 0xc0 }, { 0xf0, 0xe0 }, { 0xf8, 0xf0 }
	};

	for (unsigned int n = 0; n < 4; n++) {
		if ((first & kinds[n].mask) != kinds[n].lead)
			continue;
		*code = first & (unsigned char)~kinds[n].mask;
		return n + 1;
	}
	return 0;
}

unsigned int text_char(const char *s)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	uint32_t code = 0;
	unsigned int n = char_length((unsigned char)*s, &code);

	for (unsigned int i = 1; i < n; i++) {
		if (((unsigned char)s[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | ((unsigned char)s[i] & 0x3f);
	}
	if (code < least[n] || code > 0x10ffff ||
	    (code >= 0xd800 && code < 0xe000))
		return 0;
	return n;
}

static void add_char(struct text *t, const char *s, unsigned int n)
{
	if (n)
		add_bytes(t, s, n);
	else
		add_bytes(t, NO_CHARACTER, sizeof(NO_CHARACTER) - 1);
}

void text_utf8(struct text *t, const char *s)
{
	while (*s) {
		unsigned int n = text_char(s);

		add_char(t, s, n);
		s += n ? n : 1;
	}
}

void text_label(struct text *t, const char *value)
{
	while (*value) {
		unsigned int n = text_char(value);

		if (*value == '\n')
			add_bytes(t, "\\n", 2);
		else if (*value == '"' || *value == '\\')
			text_add(t, "\\%c", *value);
		else
			add_char(t, value, n);
		value += n ? n : 1;
	}
}
