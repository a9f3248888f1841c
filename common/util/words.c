/* SPDX-License-Identifier: BSD-2-Clause */
/* words.c - see words.h. */
#include "common/util/words.h"

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

int words_index(const char *text, const char *const *word, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		if (!strcmp(text, word[i]))
			return (int)i;
	return -EINVAL;
}

char *words_cut(char *word, char sep)
{
	char *at = strchr(word, sep);

	if (!at)
		return NULL;
	*at = '\0';
	return at + 1;
}
