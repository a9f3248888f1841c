/* SPDX-License-Identifier: BSD-2-Clause */
/* object_key.c - see object_key.h. */
#include "common/dist/object_key.h"

#include <stdlib.h>
#include <string.h>

#define HANDLE_DIGITS 16u
#define GROUP_DIGITS 8u
#define DIGITS "0123456789abcdef"

static char *put_hex(char *to, uint64_t number, unsigned int digits)
{
	for (unsigned int i = digits; i--; number >>= 4)
		to[i] = DIGITS[number & 15];
	return to + digits;
}

/* Without printf, because GETSIZE makes the path of an object each time. */
struct object_key_text object_key_text(struct object_key key)
{
	struct object_key_text text;
	char *end = put_hex(text.s, key.handle, HANDLE_DIGITS);

	if (!object_key_is_own(key)) {
		*end++ = '-';
		end = put_hex(end, key.copyset, GROUP_DIGITS);
	}
	*end = '\0';
	return text;
}

bool object_key_parse(const char *text, struct object_key *out)
{
	const char *group = text + HANDLE_DIGITS + 1;
	struct object_key key;

	if (strspn(text, DIGITS) != HANDLE_DIGITS)
		return false;
	key = object_key_own(strtoull(text, NULL, 16));
	if (text[HANDLE_DIGITS]) {
		if (text[HANDLE_DIGITS] != '-' ||
		    strspn(group, DIGITS) != GROUP_DIGITS ||
		    group[GROUP_DIGITS])
			return false;
		key.copyset = strtoull(group, NULL, 16);
		if (object_key_is_own(key))
			return false;
	}
	if (!key.handle)
		return false;
	*out = key;
	return true;
}
