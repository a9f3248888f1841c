/* SPDX-License-Identifier: BSD-2-Clause */
/* link_word.c - words of lines, see link.h. */
#include "client/tools/job/parts/link.h"

#include <errno.h>

void link_escape(const char *text, char *out)
{
	static const char hex[] = "0123456789abcdef";

	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c > ' ' && c != '%' && c != 0x7f) {
			*out++ = (char)c;
			continue;
		}
		*out++ = '%';
		*out++ = hex[c >> 4];
		*out++ = hex[c & 15];
	}
	*out = '\0';
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int link_unescape(char *text)
{
	char *out = text;

	for (; *text; text++) {
		int high, low;

		if (*text != '%') {
			*out++ = *text;
			continue;
		}
		high = hex_digit(text[1]);
		low = high < 0 ? -1 : hex_digit(text[2]);
		if (low < 0 || (!high && !low))
			return -EINVAL;
		*out++ = (char)(high << 4 | low);
		text += 2;
	}
	*out = '\0';
	return 0;
}
