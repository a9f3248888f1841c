/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * conf.h - the configuration file, read with inih.  An error names the file,
 * the line and the fix.
 */
#ifndef CONF_H
#define CONF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct conf;

/*
 * Reads path into *conf (conf_free() releases it).  On failure returns
 * -errno and writes "FILE:LINE: cause; fix" to err.
 */
int conf_load(const char *path, struct conf **conf, char *err, size_t errlen);
void conf_free(struct conf *conf);

/* The section that is read, and where the message about a value goes. */
struct conf_section {
	const struct conf *conf;
	const char *name;
	char *err;
	size_t errlen;
};

/* The value, or NULL.  Lives as long as conf. */
const char *conf_get(const struct conf_section *in, const char *key);
/*
 * Typed values: *val is left alone (the default) when the key is missing.
 * -EINVAL and a message in err when it is there and wrong.  Sizes take the
 * suffixes K, M, G, T (powers of 1024).
 */
int conf_size(const struct conf_section *in, const char *key, uint64_t min,
	      uint64_t max, uint64_t *val);
int conf_uint(const struct conf_section *in, const char *key, unsigned int min,
	      unsigned int max, unsigned int *val);
int conf_bool(const struct conf_section *in, const char *key, bool *val);
/* "FILE:LINE: [section] key", of a key that is missing without the line. */
void conf_where(const struct conf_section *in, const char *key, char *buf,
		size_t len);
/* "FILE:LINE: [section] key: what" in err; -EINVAL. */
int conf_complain(const struct conf_section *in, const char *key,
		  const char *what);

/* A number, or one with K, M, G or T, and nothing else; -EINVAL. */
int conf_parse_size(const char *text, uint64_t *val);

/*
 * -EINVAL when the file has a section or key not listed: a spelling mistake
 * must not pass silently.  known: "section.key", a trailing '*' in the
 * section stands for a number ("iod.*.address"); NULL ends the list.
 */
int conf_only(const struct conf *conf, const char *const known[], char *err,
	      size_t errlen);

/* Calls fn for every section in file order; stops at the first non-zero. */
int conf_sections(const struct conf *conf,
		  int (*fn)(void *arg, const char *section), void *arg);

#endif
