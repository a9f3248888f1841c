/* SPDX-License-Identifier: BSD-2-Clause */
/* conf_only.c - detects spelling mistakes in the configuration. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/util/conf.h"
#include "common/util/conf_int.h"

/* The key in "section.key"; the section ends one byte before it. */
static const char *known_key(const char *known)
{
	const char *dot = strrchr(known, '.');

	return dot ? dot + 1 : known;
}

/* Accepts only the canonical form: "iod.01" is not iod 1. */
static bool is_number(const char *text)
{
	size_t n = strspn(text, "0123456789");

	return n && n < 10 && !text[n] && (n == 1 || *text != '0');
}

static bool section_fits(const char *known, const char *section)
{
	const char *key = known_key(known);
	size_t n = key == known ? 0 : (size_t)(key - known) - 1;
	const char *star = memchr(known, '*', n);

	if (star)
		return !strncmp(known, section, (size_t)(star - known)) &&
		       is_number(section + (star - known));
	return strlen(section) == n && !memcmp(known, section, n);
}

static bool is_known(const char *const known[], const struct conf_entry *e)
{
	for (; *known; known++) {
		if (section_fits(*known, e->section) &&
		    !strcmp(known_key(*known), e->key))
			return true;
	}
	return false;
}

/* "a, b, c": the keys that the section may have; "" for an unknown section. */
static void list_keys(const char *const known[], const char *section, char *buf,
		      size_t len)
{
	size_t used = 0;

	buf[0] = '\0';
	for (; *known && used < len; known++) {
		if (section_fits(*known, section))
			used += (size_t)snprintf(buf + used, len - used, "%s%s",
						 used ? ", " : "",
						 known_key(*known));
	}
}

int conf_only(const struct conf *conf, const char *const known[], char *err,
	      size_t errlen)
{
	const struct conf_entry *e;
	char keys[768];

	TAILQ_FOREACH(e, &conf->entries, link) {
		if (is_known(known, e))
			continue;
		list_keys(known, e->section, keys, sizeof(keys));
		if (keys[0])
			snprintf(err, errlen,
				 "%s:%d: unknown key '%s' in [%s]; remove it "
				 "or use one of: %s",
				 conf->path, e->line, e->key, e->section, keys);
		else
			snprintf(err, errlen,
				 "%s:%d: unknown section [%s]; correct its "
				 "name or remove it",
				 conf->path, e->line, e->section);
		return -EINVAL;
	}
	return 0;
}
