/* SPDX-License-Identifier: BSD-2-Clause */
/* conf.c - see conf.h. */
#include "common/util/conf.h"

#include <errno.h>
#include <ini.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "common/util/number.h"

struct conf_entry {
	TAILQ_ENTRY(conf_entry) link; /* in file order */
	char *section;
	char *key;
	char *value;
	int line;
};

struct conf {
	char *path;
	TAILQ_HEAD(conf_entries, conf_entry) entries;
};

static void entry_free(struct conf_entry *entry)
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
		entry_free(e);
	}
	free(conf->path);
	free(conf);
}

/* ---- values ---- */

/* NULL: no such key. */
static struct conf_entry *conf_find(const struct conf *conf,
				    const char *section, const char *key)
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

/* ---- reading a file ---- */

/* inih does not report line numbers, so the reader counts lines. */
struct conf_reader {
	FILE *file;
	struct conf *conf;
	int line;
	char *text; /* buffer of getline() */
	size_t cap;
	int rc; /* the first failure; err is filled */
	char *err;
	size_t errlen;
};

static int set_error(struct conf_reader *rd, int rc, const char *msg)
{
	if (!rd->rc) {
		rd->rc = rc;
		snprintf(rd->err, rd->errlen, "%s:%d: %s", rd->conf->path,
			 rd->line, msg);
	}
	return 0;
}

/* An indented line is an ordinary line, not a continuation. */
static char *read_line(char *str, int num, void *stream)
{
	struct conf_reader *rd = stream;
	const char *s;
	ssize_t n;

	if (rd->rc)
		return NULL;
	n = getline(&rd->text, &rd->cap, rd->file);
	if (n < 0)
		return NULL;
	rd->line++;
	if (memchr(rd->text, '\0', (size_t)n)) {
		set_error(rd, -EINVAL,
			  "holds a NUL byte; is this a text file?");
		return NULL;
	}
	for (s = rd->text; *s == ' ' || *s == '\t'; s++)
		n--;
	if (n >= num) {
		set_error(rd, -EINVAL,
			  "the line is too long; shorten it to 198 "
			  "characters");
		return NULL;
	}
	memcpy(str, s, (size_t)n + 1);
	return str;
}

static struct conf_entry *entry_new(const char *section, const char *key,
				    const char *value, int line)
{
	struct conf_entry *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->line = line;
	e->section = strdup(section);
	e->key = strdup(key);
	e->value = strdup(value);
	if (e->section && e->key && e->value)
		return e;
	entry_free(e);
	return NULL;
}

static int take_entry(void *user, const char *section, const char *key,
		      const char *value)
{
	struct conf_reader *rd = user;
	struct conf_entry *e = conf_find(rd->conf, section, key);
	char msg[160];

	if (e) {
		snprintf(msg, sizeof(msg),
			 "'%s' in [%s] was given in line %d; remove one of "
			 "the two",
			 key, section, e->line);
		return set_error(rd, -EINVAL, msg);
	}
	e = entry_new(section, key, value, rd->line);
	if (!e)
		return set_error(rd, -ENOMEM, "out of memory");
	TAILQ_INSERT_TAIL(&rd->conf->entries, e, link);
	return 1;
}

/* inih returns the first line that it, or take_entry(), rejected. */
static int parse_file(struct conf_reader *rd)
{
	int bad = ini_parse_stream(read_line, rd, take_entry, rd);

	if (bad > 0 && (!rd->rc || bad < rd->line)) {
		rd->rc = 0;
		rd->line = bad;
		set_error(rd, -EINVAL,
			  "neither [section], key = value nor comment; correct "
			  "the line");
	}
	if (bad < 0)
		set_error(rd, -ENOMEM, "out of memory");
	if (ferror(rd->file))
		set_error(rd, -EIO, "cannot be read; is this a file?");
	return rd->rc;
}

static struct conf *conf_new(const char *path)
{
	struct conf *conf = calloc(1, sizeof(*conf));

	if (!conf)
		return NULL;
	TAILQ_INIT(&conf->entries);
	conf->path = strdup(path);
	if (conf->path)
		return conf;
	free(conf);
	return NULL;
}

int conf_load(const char *path, struct conf **conf, char *err, size_t errlen)
{
	struct conf_reader rd = { .err = err, .errlen = errlen };
	int rc;

	rd.file = fopen(path, "re");
	if (!rd.file) {
		rc = -errno;
		snprintf(err, errlen,
			 "%s: %s; name a readable file with --config", path,
			 strerror(-rc));
		return rc;
	}
	rd.conf = conf_new(path);
	if (!rd.conf) {
		snprintf(err, errlen, "%s: out of memory", path);
		rc = -ENOMEM;
		goto close;
	}
	rc = parse_file(&rd);
	free(rd.text);
	if (rc)
		conf_free(rd.conf);
	else
		*conf = rd.conf;
close:
	fclose(rd.file);
	return rc;
}

/* ---- spelling mistakes ---- */

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
