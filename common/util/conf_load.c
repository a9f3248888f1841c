/* SPDX-License-Identifier: BSD-2-Clause */
/* conf_load.c - reads the configuration file with inih and counts its lines. */
#include <errno.h>
#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "common/util/conf.h"
#include "common/util/conf_int.h"

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
	conf_entry_free(e);
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
