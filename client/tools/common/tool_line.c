/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * tool_line.c - lines with text from others: names of files, of servers.  A terminal
 * would obey control characters in it, so `?` replaces them, as in ls(1).  Files and
 * pipes get the text unchanged.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>
#include <wctype.h>

#include "client/tools/common/tool.h"

/* Returns the bytes of the first character of text; 1 if it is invalid. */
static size_t next_char(const char *text, size_t len, bool *prints)
{
	mbstate_t state = { 0 };
	wchar_t wc;
	size_t n = mbrtowc(&wc, text, len, &state);

	*prints = n && n <= len && iswprint((wint_t)wc);
	return n && n <= len ? n : 1;
}

void tool_mask(char *text, size_t len)
{
	char *to = text;
	bool prints;
	size_t n;

	for (; len; text += n, len -= n) {
		n = next_char(text, len, &prints);
		if (prints)
			memmove(to, text, n);
		else
			*to = '?';
		to += prints ? n : 1;
	}
	memmove(to, text, strlen(text) + 1);
}

static void put_masked(FILE *out, char *line)
{
	size_t len = strlen(line);

	tool_mask(line, len && line[len - 1] == '\n' ? len - 1 : len);
	fputs(line, out);
}

void tool_vline(FILE *out, const char *fmt, va_list ap)
{
	char *line;

	if (!isatty(fileno(out))) {
		vfprintf(out, fmt, ap);
	} else if (vasprintf(&line, fmt, ap) >= 0) {
		put_masked(out, line);
		free(line);
	}
}

void tool_line(FILE *out, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	tool_vline(out, fmt, ap);
	va_end(ap);
}
