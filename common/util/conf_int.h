/* SPDX-License-Identifier: BSD-2-Clause */
/* conf_int.h - the entries of a configuration, shared by the conf_*.c files. */
#ifndef CONF_INT_H
#define CONF_INT_H

#include <sys/queue.h>

#include "common/util/conf.h"

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

/* NULL: no such key. */
struct conf_entry *conf_find(const struct conf *conf, const char *section,
			     const char *key);
void conf_entry_free(struct conf_entry *entry);

#endif
