/* SPDX-License-Identifier: BSD-2-Clause */
/* conf.c - looks up values and converts them to their type. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/util/conf.h"
#include "common/util/conf_int.h"
#include "common/util/number.h"

void conf_entry_free(struct conf_entry *entry)
{
	free(entry->section);
	free(entry->key);
	free(entry->value);
	free(entry);
}

void conf_free(struct conf *conf)
{
	struct conf_entry *e;

	if (!conf)
		return;
	while ((e = TAILQ_FIRST(&conf->entries))) {
		TAILQ_REMOVE(&conf->entries, e, link);
		conf_entry_free(e);
	}
	free(conf->path);
	free(conf);
}

struct conf_entry *conf_find(const struct conf *conf, const char *section,
			     const char *key)
{
	struct conf_entry *e;

	TAILQ_FOREACH(e, &conf->entries, link) {
		if (!strcmp(e->section, section) && !strcmp(e->key, key))
			return e;
	}
	return NULL;
}

static const struct conf_entry *find_entry(const struct conf_section *in,
					   const char *key)
{
	return conf_find(in->conf, in->name, key);
}

const char *conf_get(const struct conf_section *in, const char *key)
{
	const struct conf_entry *e = find_entry(in, key);

	return e ? e->value : NULL;
}

void conf_where(const struct conf_section *in, const char *key, char *buf,
		size_t len)
{
	const struct conf_entry *e = find_entry(in, key);
	char line[16] = "";

	if (e)
		snprintf(line, sizeof(line), ":%d", e->line);
	snprintf(buf, len, "%s%s: [%s] %s", in->conf->path, line, in->name,
		 key);
}

int conf_complain(const struct conf_section *in, const char *key,
		  const char *what)
{
	size_t n;

	conf_where(in, key, in->err, in->errlen);
	n = strlen(in->err);
	snprintf(in->err + n, in->errlen - n, ": %s", what);
	return -EINVAL;
}

int conf_parse_size(const char *s, uint64_t *val)
{
	return number_parse_size(s, UINT64_MAX, val);
}

int conf_size(const struct conf_section *in, const char *key, uint64_t min,
	      uint64_t max, uint64_t *val)
{
	const struct conf_entry *e = find_entry(in, key);
	uint64_t n;

	if (!e)
		return 0;
	if (conf_parse_size(e->value, &n) || n < min || n > max) {
		snprintf(in->err, in->errlen,
			 "%s:%d: '%s = %s' in [%s] is out of range; write a "
			 "number (or one with K, M, G or T) from %" PRIu64
			 " to %" PRIu64,
			 in->conf->path, e->line, key, e->value, in->name, min,
			 max);
		return -EINVAL;
	}
	*val = n;
	return 0;
}

int conf_uint(const struct conf_section *in, const char *key, unsigned int min,
	      unsigned int max, unsigned int *val)
{
	uint64_t n = *val;
	int rc = conf_size(in, key, min, max, &n);

	*val = (unsigned int)n;
	return rc;
}

int conf_bool(const struct conf_section *in, const char *key, bool *val)
{
	static const char *const words[] = { "off", "on",    "no",
					     "yes", "false", "true" };
	const struct conf_entry *e = find_entry(in, key);

	if (!e)
		return 0;
	for (unsigned int i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (!strcmp(e->value, words[i])) {
			*val = i % 2;
			return 0;
		}
	}
	snprintf(in->err, in->errlen,
		 "%s:%d: '%s = %s' in [%s] is neither on nor off; write one "
		 "of them",
		 in->conf->path, e->line, key, e->value, in->name);
	return -EINVAL;
}

static bool first_of_section(const struct conf *conf,
			     const struct conf_entry *entry)
{
	const struct conf_entry *e;

	TAILQ_FOREACH(e, &conf->entries, link) {
		if (!strcmp(e->section, entry->section))
			return e == entry;
	}
	return false;
}

int conf_sections(const struct conf *conf,
		  int (*fn)(void *arg, const char *section), void *arg)
{
	const struct conf_entry *e;
	int rc;

	TAILQ_FOREACH(e, &conf->entries, link) {
		if (!first_of_section(conf, e))
			continue;
		rc = fn(arg, e->section);
		if (rc)
			return rc;
	}
	return 0;
}
