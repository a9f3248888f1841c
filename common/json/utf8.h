/* SPDX-License-Identifier: BSD-2-Clause */
/* utf8.h - recognises UTF-8 characters (RFC 3629). */
#ifndef UTF8_H
#define UTF8_H

#include <stddef.h>

/* Returns the number of bytes of the character at s, a string; 0 if it is not a character. */
static inline size_t utf8_char(const char *s)
{
	const unsigned char *c = (const unsigned char *)s;
	size_t n = *c < 0x80		      ? 1
		   : *c >= 0xc2 && *c <= 0xdf ? 2
		   : (*c & 0xf0) == 0xe0      ? 3
		   : *c >= 0xf0 && *c <= 0xf4 ? 4
					      : 0;

	for (size_t i = 1; i < n; i++)
		if ((c[i] & 0xc0) != 0x80)
			return 0;
	if ((*c == 0xe0 && c[1] < 0xa0) || (*c == 0xed && c[1] > 0x9f) ||
	    (*c == 0xf0 && c[1] < 0x90) || (*c == 0xf4 && c[1] > 0x8f))
		return 0;
	return n;
}

#endif
