/* SPDX-License-Identifier: BSD-2-Clause */
/* iod_zones.c - the setting `zones`, from and to text. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/util/conf.h"
#include "server/conf/iod_conf.h"

#define SIZE_LEAST (16u << 10)
#define SIZE_MOST (16u << 20)
/* a transfer uses two, and a client at most half of all */
#define COUNT_LEAST 4u
#define COUNT_MOST (1u << 20)
#define BYTES_MOST (64ull << 30)

/* word: "SIZE:COUNT"; the colon is overwritten. */
static int parse_zone(char *word, struct zone_size *zone)
{
	char *colon = strchr(word, ':');
	uint64_t size, count;

	if (!colon)
		return -EINVAL;
	*colon = '\0';
	if (conf_parse_size(word, &size) || conf_parse_size(colon + 1, &count))
		return -EINVAL;
	if (size < SIZE_LEAST || size > SIZE_MOST || count > COUNT_MOST)
		return -EINVAL;
	zone->size = (size_t)size;
	zone->count = (unsigned int)count;
	return 0;
}

int iod_zones_parse(const char *text, struct zones_attr *zones)
{
	struct zones_attr got = { .n = 0 };
	char copy[ZONES_TEXT], *word, *next;
	unsigned int count = 0;

	if (strlen(text) >= sizeof(copy))
		return -EINVAL;
	strcpy(copy, text);
	for (word = strtok_r(copy, " \t,", &next); word;
	     word = strtok_r(NULL, " \t,", &next)) {
		if (got.n == ZONES_MAX || parse_zone(word, &got.zone[got.n]))
			return -EINVAL;
		count += got.zone[got.n++].count;
	}
	if (count < COUNT_LEAST || !zones_bytes(&got) ||
	    zones_bytes(&got) > BYTES_MOST)
		return -EINVAL;
	got.rails = zones->rails;
	*zones = got;
	return 0;
}

const char *iod_zones_format(const struct zones_attr *zones, char *buf,
			     size_t len)
{
	size_t at = 0;
	unsigned int i;
	int n;

	buf[0] = '\0';
	for (i = 0; i < zones->n; i++) {
		n = snprintf(buf + at, len - at, "%s%zuK:%u", i ? " " : "",
			     zones->zone[i].size / 1024, zones->zone[i].count);
		if (n < 0 || (size_t)n >= len - at)
			break;
		at += (size_t)n;
	}
	return buf;
}
