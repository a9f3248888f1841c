/* SPDX-License-Identifier: BSD-2-Clause */
/* sizes.c - a size for each transport, from text. */
#include "sizes.h"

#include <errno.h>
#include <string.h>

#include "conf.h"

#define ONE_MAX 32u

static const char *const names[SIZES_OTHER] = {
	[SIZES_LOCAL] = "local",
	[SIZES_VERBS] = "verbs",
	[SIZES_TCP] = "tcp",
};

static int find(const char *name)
{
	int k;

	for (k = 0; k < SIZES_OTHER; k++) {
		if (!strcmp(names[k], name))
			break;
	}
	return k;
}

static int set(struct sizes *s, const char *name, const char *text)
{
	int k, one = name ? find(name) : SIZES_N;
	uint64_t n;

	if (one == SIZES_OTHER || conf_parse_size(text, &n) || n > SIZES_MAX)
		return -EINVAL;
	for (k = 0; k < SIZES_N; k++) {
		if (name && k != one)
			continue;
		s->said |= 1u << k;
		s->of[k] = (uint32_t)n;
	}
	return 0;
}

/* The first len bytes of text: "4K" or "verbs:4K". */
static int one(struct sizes *s, const char *text, size_t len)
{
	char buf[ONE_MAX], *colon;

	if (!len || len >= sizeof(buf))
		return -EINVAL;
	memcpy(buf, text, len);
	buf[len] = '\0';
	colon = strchr(buf, ':');
	if (!colon)
		return set(s, NULL, buf);
	*colon = '\0';
	return set(s, buf, colon + 1);
}

int sizes_parse(const char *text, struct sizes *sizes)
{
	struct sizes s = *sizes;
	size_t len;
	int rc;

	for (;; text += len + 1) {
		len = strcspn(text, "/");
		rc = one(&s, text, len);
		if (rc)
			return rc;
		if (!text[len])
			break;
	}
	*sizes = s;
	return 0;
}

uint32_t sizes_get(const struct sizes *sizes, const char *transport,
		   uint32_t otherwise)
{
	const char *plus = strrchr(transport, '+');
	int k = find(plus ? plus + 1 : transport);

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
