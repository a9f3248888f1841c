/* SPDX-License-Identifier: BSD-2-Clause */
/* list_conf_int.h - how list requests treat memory, and what they counted. */
#ifndef LIST_CONF_INT_H
#define LIST_CONF_INT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct log;

struct list_conf {
	/* pieces of memory stay in place if they have as many bytes on
	 * average, otherwise they are packed */
	uint64_t place;
	bool group; /* neighbours are registered as one */
};

/* Of a session, from any thread. */
struct list_count {
	atomic_ulong requests, packed, placed, registrations;
	atomic_ulong borrowed; /* shares of calls that went without a request */
};

/* The provider's values; PVFS_LIST_PLACE and PVFS_LIST_GROUP change them.  What
 * is wrong with those goes to log, if there is one. */
void list_conf_get(struct list_conf *conf, const char *provider,
		   const struct log *log);

#endif
