/* SPDX-License-Identifier: BSD-2-Clause */
/* words.c - takes a setting of several words apart. */
#include "words.h"

#include <errno.h>
#include <string.h>

int words_next(const char **text, char sep, char *buf, size_t len)
{
	const char *word = *text, *end = strchrnul(word, sep);
	size_t n = (size_t)(end - word);

	if (!n || n >= len)
		return -EINVAL;
	memcpy(buf, word, n);
	buf[n] = '\0';
	*text = *end ? end + 1 : NULL;
	return 0;
}

char *words_cut(char *word, char sep)
{
	char *at = strchr(word, sep);

	if (!at)
		return NULL;
	*at = '\0';
	return at + 1;
}
