/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * list_packing.c - the buffers for small pieces, and the size from which memory is used in
 * place, for each provider.
 */
#include "client/lib/session/list_packing.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/log.h"

static void pack_free(struct pack *pack)
{
	rail_mem_fini(&pack->mem);
	free(pack->buf);
	free(pack);
}

struct pack *pack_get(struct packs *packs)
{
	struct pack *pack = SLIST_FIRST(&packs->free);

	if (pack) {
		SLIST_REMOVE_HEAD(&packs->free, link);
		packs->nfree--;
		return pack;
	}
	pack = malloc(sizeof(*pack));
	if (!pack)
		return NULL;
	pack->buf = malloc(PACK_LEN);
	if (!pack->buf) {
		free(pack);
		return NULL;
	}
	rail_mem_init(&pack->mem, pack->buf, PACK_LEN,
		      TP_REMOTE_READ | TP_REMOTE_WRITE);
	pack->area = &pack->mem;
	return pack;
}

void pack_put(struct packs *packs, struct pack *pack, bool sound)
{
	if (!sound || packs->nfree == PACK_KEPT) {
		pack_free(pack);
		return;
	}
	SLIST_INSERT_HEAD(&packs->free, pack, link);
	packs->nfree++;
}

void packs_free(struct packs *packs)
{
	struct pack *pack;

	while ((pack = SLIST_FIRST(&packs->free))) {
		SLIST_REMOVE_HEAD(&packs->free, link);
		pack_free(pack);
	}
	packs->nfree = 0;
}

#define PLACE_MAX (1u << 30)

/* Measured with pvfs-perf list: a header for each piece against a copy of it. */
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

/* Decimal, octal or hexadecimal. */
static bool parse_place(const char *text, uint64_t *place)
{
	char *end;
	uint64_t v;

	errno = 0;
	v = strtoull(text, &end, 0);
	if (!isdigit((unsigned char)*text) || *end || errno || v > PLACE_MAX)
		return false;
	*place = v;
	return true;
}

static uint64_t place_env(uint64_t place, const struct log *log)
{
	const char *text = secure_getenv("PVFS_LIST_PLACE");

	if (text && !parse_place(text, &place))
		log_warn(log,
			 "PVFS_LIST_PLACE=%s: want 0 to %u bytes; using %llu",
			 text, PLACE_MAX, (unsigned long long)place);
	return place;
}

static bool group_env(const struct log *log)
{
	const char *text = secure_getenv("PVFS_LIST_GROUP");

	if (!text || !strcmp(text, "on"))
		return true;
	if (!strcmp(text, "off"))
		return false;
	log_warn(log, "PVFS_LIST_GROUP=%s: want on or off; using on", text);
	return true;
}

void list_conf_get(struct list_conf *conf, const char *provider,
		   const struct log *log)
{
	conf->place = place_env(place_of(provider), log);
	conf->group = group_env(log);
}
