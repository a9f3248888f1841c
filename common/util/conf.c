/* SPDX-License-Identifier: BSD-2-Clause */
/* conf.c - looks values up and turns them into their type. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf.h"
#include "conf_int.h"

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

const char *conf_path(const struct conf *conf)
{
	return conf->path;
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

const char *conf_get(const struct conf *conf, const char *section,
		     const char *key)
{
	const struct conf_entry *e = conf_find(conf, section, key);

	return e ? e->value : NULL;
}

const char *conf_where(const struct conf *conf, const char *section,
		       const char *key, char *buf, size_t len)
{
	const struct conf_entry *e = conf_find(conf, section, key);

	if (e)
		snprintf(buf, len, "%s:%d: ", conf->path, e->line);
	else
		snprintf(buf, len, "%s: ", conf->path);
	return buf;
}

int conf_complain(const struct conf *conf, const char *section, const char *key,
		  const char *what, char *err, size_t errlen)
{
	char where[PATH_MAX + 32];

	conf_where(conf, section, key, where, sizeof(where));
	snprintf(err, errlen, "%s[%s] %s: %s", where, section, key, what);
	return -EINVAL;
}

/* Shift of a size suffix; -1: there is none such. */
static int suffix_shift(const char *s)
{
	static const char suffixes[] = "KMGT";
	const char *p;

	if (!*s)
		return 0;
	p = strchr(suffixes, *s);
	if (!p || s[1])
		return -1;
	return 10 * (int)(p - suffixes + 1);
}

int conf_parse_size(const char *s, uint64_t *val)
{
	char *end;
	uint64_t n;
	int shift;

	if (*s < '0' || *s > '9')
		return -EINVAL;
	errno = 0;
	n = strtoull(s, &end, 10);
	shift = suffix_shift(end);
	if (errno || shift < 0 || n > UINT64_MAX >> shift)
		return -EINVAL;
	*val = n << shift;
	return 0;
}

int conf_size(const struct conf *conf, const char *section, const char *key,
	      uint64_t min, uint64_t max, uint64_t *val, char *err,
	      size_t errlen)
{
	const struct conf_entry *e = conf_find(conf, section, key);
	uint64_t n;

	if (!e)
		return 0;
	if (conf_parse_size(e->value, &n) || n < min || n > max) {
		snprintf(err, errlen,
			 "%s:%d: '%s = %s' in [%s] is out of range; write a "
			 "number (or one with K, M, G or T) from %" PRIu64
			 " to %" PRIu64,
			 conf->path, e->line, key, e->value, section, min, max);
		return -EINVAL;
	}
	*val = n;
	return 0;
}

int conf_bool(const struct conf *conf, const char *section, const char *key,
	      bool *val, char *err, size_t errlen)
{
	static const char *const words[] = { "off", "on",    "no",
					     "yes", "false", "true" };
	const struct conf_entry *e = conf_find(conf, section, key);

	if (!e)
		return 0;
	for (unsigned int i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (!strcmp(e->value, words[i])) {
			*val = i % 2;
			return 0;
		}
	}
	snprintf(err, errlen,
		 "%s:%d: '%s = %s' in [%s] is neither on nor off; write one "
		 "of them",
		 conf->path, e->line, key, e->value, section);
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
