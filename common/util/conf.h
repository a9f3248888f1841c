/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * conf.h - the configuration file, parsed with inih. An error names the file, the line and the
 * remedy.
 */
#ifndef CONF_H
#define CONF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct conf;

/*
 * Reads path into *conf; conf_free() frees it. On failure returns -errno and writes "FILE:LINE:
 * cause; fix" to err.
 */
int conf_load(const char *path, struct conf **conf, char *err, size_t errlen);
void conf_free(struct conf *conf);

/* The section to read, and where to put the message about a bad value. */
struct conf_section {
	const struct conf *conf;
	const char *name;
	char *err;
	size_t errlen;
};

/*
 * Returns the value of key, or NULL if the key is missing. The value lives as long as the conf of
 * `in`.
 */
const char *conf_get(const struct conf_section *in, const char *key);
/*
 * These parse the value of key. If the key is missing, *val keeps the default that the caller put
 * there. If the value is invalid, they return -EINVAL and write a message to the err of `in`. Sizes
 * accept the suffixes K, M, G, T (powers of 1024).
 */
int conf_size(const struct conf_section *in, const char *key, uint64_t min,
	      uint64_t max, uint64_t *val);
int conf_uint(const struct conf_section *in, const char *key, unsigned int min,
	      unsigned int max, unsigned int *val);
int conf_bool(const struct conf_section *in, const char *key, bool *val);
/* Writes "FILE:LINE: [section] key" to buf, without the line if the key is missing. */
void conf_where(const struct conf_section *in, const char *key, char *buf,
		size_t len);
/* Writes "FILE:LINE: [section] key: what" to err. Returns -EINVAL. */
int conf_complain(const struct conf_section *in, const char *key,
		  const char *what);

/* Parses a number, which K, M, G or T may follow. -EINVAL if text is anything else. */
int conf_parse_size(const char *text, uint64_t *val);

/*
 * Returns -EINVAL if the file has a section or key that `known` does not list, such as a spelling
 * mistake. Entries of `known` are "section.key". A '*' at the end of a section stands for a number
 * ("iod.*.address"). NULL ends the list.
 */
int conf_only(const struct conf *conf, const char *const known[], char *err,
	      size_t errlen);

/*
 * Calls fn for every section, in file order. Stops at the first result of fn other than 0, and
 * returns this result.
 */
int conf_sections(const struct conf *conf,
		  int (*fn)(void *arg, const char *section), void *arg);

#endif
