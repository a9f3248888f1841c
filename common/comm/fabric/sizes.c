/* SPDX-License-Identifier: BSD-2-Clause */
/* sizes.c - a size for each transport, from text. */
#include "common/comm/fabric/sizes.h"

#include <errno.h>
#include <string.h>

#include "common/util/conf.h"
#include "common/util/words.h"

#define ONE_MAX 32u

static const char *const names[SIZES_OTHER] = {
	[SIZES_LOCAL] = "local",
	[SIZES_VERBS] = "verbs",
	[SIZES_TCP] = "tcp",
};

static int index_of_transport(const char *name)
{
	int k;

	for (k = 0; k < SIZES_OTHER; k++) {
		if (!strcmp(names[k], name))
			break;
	}
	return k;
}

/* Puts "verbs:4K" into named, "4K" into rest.  Neither may occur twice. */
static int parse_word(char *word, struct sizes *named, struct sizes *rest)
{
	char *size = words_cut(word, ':');
	int k = size ? index_of_transport(word) : SIZES_OTHER;
	uint64_t n;

	if (conf_parse_size(size ?: word, &n) || n > SIZES_MAX)
		return -EINVAL;
	if (!size && !rest->said) {
		*rest = sizes_all((uint32_t)n);
		return 0;
	}
	if (k == SIZES_OTHER || named->said >> k & 1)
		return -EINVAL;
	named->said |= 1u << k;
	named->of[k] = (uint32_t)n;
	return 0;
}

int sizes_parse(const char *text, struct sizes *sizes)
{
	struct sizes named = { 0 }, rest = { 0 };
	char word[ONE_MAX];
	int k, rc;

	while (text) {
		rc = words_next(&text, '/', word, sizeof(word));
		if (!rc)
			rc = parse_word(word, &named, &rest);
		if (rc)
			return rc;
	}
	if (rest.said)
		*sizes = rest;
	sizes->said |= named.said;
	for (k = 0; k < SIZES_OTHER; k++) {
		if (named.said >> k & 1)
			sizes->of[k] = named.of[k];
	}
	return 0;
}

uint32_t sizes_get(const struct sizes *sizes, const char *transport,
		   uint32_t otherwise)
{
	const char *plus = strrchr(transport, '+');
	int k = index_of_transport(plus ? plus + 1 : transport);

	return sizes->said >> k & 1 ? sizes->of[k] : otherwise;
}

struct sizes sizes_all(uint32_t size)
{
	struct sizes s = { .said = (1u << SIZES_N) - 1 };
	int k;

	for (k = 0; k < SIZES_N; k++)
		s.of[k] = size;
	return s;
}
