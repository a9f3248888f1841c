/* SPDX-License-Identifier: BSD-2-Clause */
/* list_conf.c - from which size on memory is used in place, per provider. */
#include "list_conf.h"

#include <stdlib.h>
#include <string.h>

/* Measured with pvfs-perf list: a header a piece against a copy of it. */
static const struct {
	const char *provider;
	uint64_t place;
} places[] = {
	{ "tcp", 8192 },
	{ "local", 1024 },
	{ "verbs", 4096 },
};

static uint64_t place_of(const char *provider)
{
	size_t i;

	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		if (!strcmp(provider, places[i].provider))
			return places[i].place;
	}
	return 4096;
}

void list_conf_get(struct list_conf *conf, const char *provider)
{
	const char *place = getenv("PVFS_LIST_PLACE");
	const char *group = getenv("PVFS_LIST_GROUP");

	conf->place = place_of(provider);
	if (place && *place)
		conf->place = strtoull(place, NULL, 0);
	conf->group = !group || strcmp(group, "off") != 0;
}
